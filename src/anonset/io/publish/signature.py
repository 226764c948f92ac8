"""Signatures of certificates, made and checked by OpenSSH.

`ssh-keygen -Y sign` signs the bytes of a certificate, which names the sha256 of every file of the release, so that the
signature speaks about the release too. The namespace keeps a signature made here from being taken for one of an e-mail
or of a commit, and the other way round. It proves that the holder of the key signed this certificate; not when, not
that the promise is enough, and nothing about the original data.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from anonset.data.errors import InputError, OutputError

NAMESPACE = "anonset-certificate"
ENDING = ".sig"
_PROGRAM = "ssh-keygen"


@dataclass(frozen=True)
class Signature:
    """What is known of a certificate's signature; `signer` is None where it does not hold."""

    signer: str | None
    sentence: str

    @property
    def holds(self) -> bool:
        """Whether a known signer signed this very certificate."""
        return self.signer is not None


def signature_path(certificate: Path) -> Path:
    """Where the signature of a certificate lies."""
    return certificate.with_name(certificate.name + ENDING)


def require_key(key: str | os.PathLike[str]) -> None:
    """Refuse a key that is not there, before any work is done."""
    if not Path(key).is_file():
        raise InputError(f"'sign' must name an SSH key file. Got {os.fspath(key)}, which is not there. See ssh-keygen.")
    _run([_PROGRAM, "-Y", "check-novalidate"], b"")  # whether there is the program at all; it says no to this call


def key_inputs(key: str | os.PathLike[str] | None) -> dict[str, list[str]]:
    """What signing with a key opens: both halves of it, whichever of them was named."""
    if key is None:
        return {}
    private = os.fspath(key).removesuffix(".pub")
    return {"sign": [private, f"{private}.pub"]}


def signed(certificate: bytes, key: str | os.PathLike[str]) -> bytes:
    """The detached signature of a certificate; the agent, or ssh-keygen itself, asks for a passphrase."""
    done = _run([_PROGRAM, "-Y", "sign", "-q", "-f", os.fspath(key), "-n", NAMESPACE], certificate)
    if done.returncode or not done.stdout.startswith(b"-----BEGIN SSH SIGNATURE-----"):
        reason = _said(done)
        raise OutputError(
            f"The certificate could not be signed with {os.fspath(key)}: {reason}. Nothing was published."
        )
    return done.stdout


def check_signature(name: str, content: bytes, signature: bytes | None, signers: str | os.PathLike[str]) -> Signature:
    """Whether one of the `signers` (a file, see ALLOWED SIGNERS in ssh-keygen(1)) signed a certificate of this name."""
    if not Path(signers).is_file():
        raise InputError(
            f"'signers' must name a file of allowed signers. Got {os.fspath(signers)}, which is not there."
        )
    beside = name + ENDING
    if signature is None:
        return Signature(None, f"There is no signature: {beside} is missing.")
    with tempfile.NamedTemporaryFile() as file:
        file.write(signature)
        file.flush()
        known = ["-f", os.fspath(signers), "-s", file.name]
        found = _run([_PROGRAM, "-Y", "find-principals", *known], content)
        for signer in found.stdout.decode(errors="replace").splitlines():
            done = _run([_PROGRAM, "-Y", "verify", "-n", NAMESPACE, "-I", signer, *known], content)
            if done.returncode == 0:
                return Signature(signer, f"{beside} holds: {signer} signed this very certificate.")
    why = "nobody among the allowed signers made it" if found.returncode else "it is not about this certificate"
    return Signature(None, f"{beside} does not hold: {why}.")


def _run(command: list[str], content: bytes) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(command, input=content, capture_output=True, check=False)
    except FileNotFoundError:
        raise InputError(
            "Signatures need the program ssh-keygen, which is not there. Install OpenSSH, or leave the signature out."
        ) from None


def _said(done: subprocess.CompletedProcess[bytes]) -> str:
    """The last words of ssh-keygen, which speak about the key only."""
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    return lines[-1].rstrip(".") if lines else f"ssh-keygen ended with {done.returncode}"
