"""The version of the package, said once for certificates, reports and the command line."""

VERSION = "0.2.0"
