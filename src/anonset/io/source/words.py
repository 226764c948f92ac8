"""What people call the columns of their tables, in several languages.

A name is compared without case, accents, blanks and signs. A word may have a number word behind it (`Bon-Nr.`,
`customer_id`) or, as in Romance languages, before it (`numéro de commande`, `id pedido`).
"""

from __future__ import annotations

import re
import unicodedata

_BEHIND = ("", "id", "no", "nr", "num", "number", "nummer", "key", "code")
_BEFORE = (
    *("id", "iddu", "idde", "no", "nr", "num", "numero", "numerode", "numerodu", "numerodi", "nde", "ndu", "ndi"),
    *("code", "codigo", "codice"),
)

# Each line one language: English, German, French, Spanish, Italian, Portuguese, Dutch, Polish, Nordic.
_TRANSACTION = """
    transaction trans order invoice basket cart receipt ticket bill session visit encounter admission event purchase
    transaktion transaktions bon kassenbon bestellung bestell auftrag auftrags rechnung rechnungs beleg warenkorb
    commande facture panier recu ticketdecaisse
    pedido factura cesta carrito recibo compra tique transaccion
    ordine fattura scontrino carrello ricevuta transazione
    encomenda fatura cupom carrinho transacao
    bestelling factuur winkelmand kassabon transactie
    zamowienie zamowienia paragon paragonu faktura koszyk transakcja
    ordre kvitto kvittering"""
_ITEM = """
    item product sku stock article page diagnosis drug
    artikel produkt diagnose medikament
    produit
    producto articulo
    prodotto articolo
    produto artigo
    artikel product
    towar produktu
    vara vare"""
_USER = """
    user customer household patient person client member visitor subject account
    kunde kunden haushalt mitglied mitglieds benutzer nutzer
    utilisateur adherent
    cliente usuario paciente
    cliente utente paziente
    cliente usuario
    klant gebruiker
    klient uzytkownik pacjent
    kund bruger"""

# Names that stand before those made of words, so that what a table is called does not change with the words we know.
_FIRST = {
    "transaction": """
        transaction transactionid transactionno transactionnumber tid trans transid order orderid orderno ordernumber
        invoice invoiceid invoiceno invoicenumber basket basketid cart cartid receipt receiptid ticket ticketid bill
        billid billno session sessionid visit visitid encounter encounterid admission admissionid event eventid""",
    "item": """
        item items itemid itemname itemdescription product products productid productname sku stockcode article
        articleid page pageid url""",
    "user": """
        user userid username customer customerid customerno household householdid patient patientid person personid
        client clientid member memberid membernumber visitor visitorid subject subjectid account accountid""",
}
_LAST = {
    "transaction": "id",
    "item": """
        artikelbezeichnung produktbezeichnung produktname artikelname nomproduit nomduproduit nombreproducto
        nomeprodotto code diagnosis diagnoses icd drug description""",
    "user": "",
}
_OTHER = {
    "sensitivity": "sensitivity sensitivities degree degrees",
    "sensitive": "sensitive issensitive sensitiveitems",
    "attribute": "attribute attributes",
    "count": "count counts",
}


def plain(name: str) -> str:
    """A column name for comparing: lower case, no accents, letters and digits only.

    Examples
    --------
    >>> plain("Bon-Nr."), plain("N° de commande"), plain("Größe")
    ('bonnr', 'ndecommande', 'grosse')
    """
    letters = unicodedata.normalize("NFKD", name.replace("°", "").casefold())
    return re.sub(r"[\W_]", "", "".join(letter for letter in letters if not unicodedata.combining(letter)))


def last_part(name: str) -> str:
    """Of a path behind a list, what stands last; any other name as it is.

    Examples
    --------
    >>> last_part("lines[].sku"), last_part("order.id")
    ('sku', 'order.id')
    """
    _, behind, rest = name.rpartition("[].")
    return rest.rpartition(".")[2] if behind else name


def _made(words: str) -> list[str]:
    nouns = words.split()
    behind = [noun + tail for tail in _BEHIND for noun in nouns]
    return behind + [head + noun for head in _BEFORE for noun in nouns]


def _names() -> dict[str, list[str]]:
    made = {"transaction": _made(_TRANSACTION), "item": _made(_ITEM), "user": _made(_USER)}
    known = {role: [*_FIRST[role].split(), *words, *_LAST[role].split()] for role, words in made.items()}
    # A bare word that two languages use for two things says nothing.
    known["item"] = [name for name in known["item"] if name != "stock"]
    whole = {role: list(dict.fromkeys(names)) for role, names in known.items()}
    return {**whole, **{role: words.split() for role, words in _OTHER.items()}}


NAMES = _names()
"""For each part the names of columns that play it, the likeliest first; as `plain` writes them."""
