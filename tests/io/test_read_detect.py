"""What a file is, by name and content, and what the formats are called."""

import pytest

from anonset import ParameterError
from anonset.io import Format, format_of, read
from anonset.io.formats.registry import LAYOUTS
from anonset.io.source.detect import detect
from anonset.io.source.options import ReadOptions
from anonset.io.source.streams import find_files

LONG = "transaction,item\n1,a\n"
WIDE = "milk,bread\n1,0\n0,1\n"
BASKET = "milk,bread\neggs\n"
OBJECTS = '{"items":["a"]}\n'


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.dat", "1 2\n", "fimi"),
        ("a.dat", "1,2\n", "fimi"),
        ("a.dat", LONG, "fimi"),
        ("a.dat", "@CONVERTED_FROM_TEXT\n1\n", "spmf"),
        ("a.spmf", "1 2\n", "spmf"),
        ("a.basket", LONG, "basket"),
        ("a.csv", LONG, "long.csv"),
        ("a.csv", WIDE, "wide.csv"),
        ("a.csv", BASKET, "basket"),
        ("a.csv", "1 2\n3\n", "fimi"),
        ("a.csv", "milk\nbread\n", "basket"),
        ("a.csv", "home,page,cart\npage\nhome,page\nx,y\n", "basket"),
        ("a.csv", 'items\n"[""a""]"\n', "lists.csv"),
        ("a.tsv", LONG.replace(",", "\t"), "long.tsv"),
        ("a.tsv", BASKET.replace(",", "\t"), "basket"),
        ("a.jsonl", OBJECTS, "jsonl"),
        ("a.ndjson", "", "jsonl"),
        ("a.parquet", "PAR1", "parquet"),
        ("a.feather", "ARROW1", "arrow"),
        ("a.txt", "1 2\n", "fimi"),
        ("a.txt", "@ITEM=1=x\n1\n", "spmf"),
        ("a.txt", LONG, "long.csv"),
        ("a.txt", LONG.replace(",", "|"), "long.csv"),
        ("a.txt", BASKET, "basket"),
        ("a.txt", OBJECTS, "jsonl"),
        ("a.txt", "[1, 2]\n[3]\n", "jsonl"),
        ("a.txt", "[draft] 2\n[3] 4\n", "fimi"),
        ("a", "PAR1…", "parquet"),
        ("a", "ARROW1…", "arrow"),
        ("a", "", "fimi"),
        ("A.DAT", "1 2\n", "fimi"),
        ("A.CSV", WIDE, "wide.csv"),
    ],
)
def test_name_and_content_say_what_a_file_is(saved, name, content, expected):
    (file,), _ = find_files(saved(content, name))
    shape = detect(file, ReadOptions())
    found = shape.container if shape.layout is None else Format(shape.layout, shape.container).name
    assert found == expected


@pytest.mark.parametrize(
    ("format", "lists"),
    [
        ("fimi", [["transaction,item"], ["1,a"]]),
        ("basket", [["item", "transaction"], ["1", "a"]]),
        ("long", [["a"]]),
        ("long.csv", [["a"]]),
        ("csv", [["a"]]),
        (".csv", [["a"]]),
    ],
)
def test_the_format_given_decides(saved, format, lists):
    for name in ("a.csv", "a.jsonl", "a.dat", "a"):
        assert (
            read(saved(LONG, name), format=format, header=None if "fimi" not in format else False).to_lists() == lists
        )


@pytest.mark.parametrize("format", ["", "fimmi", "long.text", "fimi.csv", "long.csv.x", "parquet.long", "gz"])
def test_an_unknown_format_suggests_known_ones(saved, format):
    with pytest.raises(ParameterError, match="'format' must be a known name"):
        read(saved(LONG, "a.csv"), format=format)


@pytest.mark.parametrize(
    ("path", "format", "expected"),
    [
        ("a.dat", None, Format("fimi")),
        ("a.fimi.gz", None, Format("fimi", compression="gzip")),
        ("dir.csv/a.SPMF.bz2", None, Format("spmf", compression="bz2")),
        ("a.basket.xz", None, Format("basket", compression="xz")),
        ("a.csv", None, Format("long", "csv")),
        ("a.tsv.zst", None, Format("long", "tsv", "zstd")),
        ("a.ndjson", None, Format("lists", "jsonl")),
        ("a.parquet", None, Format("lists", "parquet")),
        ("a.feather", None, Format("lists", "arrow")),
        ("a.parquet", "long", Format("long", "parquet")),
        ("a.csv.gz", "wide", Format("wide", "csv", "gzip")),
        ("a.csv", "basket", Format("basket")),
        ("a.csv", "fimi", Format("fimi")),
        ("a", "long", Format("long", "csv")),
        ("a", "parquet", Format("lists", "parquet")),
        ("a", "long.tsv.gz", Format("long", "tsv", "gzip")),
        (None, "lists.jsonl", Format("lists", "jsonl")),
    ],
)
def test_formats_for_writing(path, format, expected):
    assert format_of(path, format) == expected
    assert format_of(None, expected.name).layout == expected.layout


def test_a_name_without_a_known_ending_needs_a_format():
    message = r"'format' must be given where the file's name does not say it. Got 'a.xls'. Known endings: .dat, "
    with pytest.raises(ParameterError, match=message):
        format_of("folder/a.xls")


def test_binary_containers_are_not_compressed_again():
    with pytest.raises(
        ParameterError, match=r"'format' must be text where a compression is added\. Got parquet with gzip"
    ):
        format_of("a.parquet.gz")


def test_every_layout_says_what_it_holds():
    assert {name for name, layout in LAYOUTS.items() if layout.users} == {"long", "lists", "wide"}
    assert {name for name, layout in LAYOUTS.items() if layout.degrees} == {"long", "lists"}
    assert {name for name, layout in LAYOUTS.items() if not layout.white_space} == {"fimi"}
    assert all(layout.empty and layout.containers and layout.help for layout in LAYOUTS.values())
