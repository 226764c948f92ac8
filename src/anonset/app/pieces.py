"""What the pages are built of: headings, notes, tables, charts, fields, buttons. Labels come from people's data.

Every text goes into the page as text. Tables are written as markup here, with everything in them escaped; the browser
cleans that once more, and its policy runs no script in it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from typing import Any

from nicegui import ui

from anonset.app.words import Words
from anonset.data.errors import printable

Handler = Callable[..., Awaitable[None] | None]
BAR = {"displayModeBar": False, "responsive": True}


def heading(text: str, level: int = 2) -> None:
    """A heading."""
    element(f"h{level}", text)


def element(tag: str, text: str = "", classes: str = "", **attributes: Any) -> ui.element:
    """An element with a text in it; control characters in it are spelt out."""
    made = ui.element(tag).classes(classes)
    made._text = printable(text)
    for name, value in attributes.items():
        made.props[name.replace("_", "-")] = value
    return made


def para(text: str, classes: str = "") -> ui.element:
    """A paragraph."""
    return element("p", text, classes)


def card(title: str = "", level: int = 2) -> ui.element:
    """A part of a page, with its title."""
    box = ui.element("section").classes("card")
    if title:
        with box:
            heading(title, level)
    return box


def note(text: str, kind: str = "") -> ui.element:
    """Something to notice: `good`, `bad`, `warn`, or just said."""
    return element("p", text, f"note {kind}")


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]], caption: str = "", kind: str = "") -> None:
    """A table: of `numbers`, which stand to the right but in the first column, or with a number `first`."""
    head = "".join(f'<th scope="col">{shown(name)}</th>' for name in columns)
    body = "".join(
        f"<tr>{''.join(f'<td>{shown(cell)}</td>' for cell in row)}</tr>"  # every cell is escaped
        for row in rows
    )
    title = f'<caption class="hidden">{shown(caption)}</caption>' if caption else ""
    markup = f'<table class="{kind}">{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    made = ui.html(markup, sanitize=True).classes("scroll").props('tabindex="0" role="region"')
    made.props["aria-label"] = printable(caption) or printable(columns[0])


def shown(value: Any) -> str:
    """A value as text in markup, escaped."""
    return escape(printable(str(value)))


def facts(rows: Sequence[tuple[str, Any]]) -> None:
    """Names with their values, one below the other."""
    body = "".join(f'<tr><th scope="row">{shown(name)}</th><td>{shown(value)}</td></tr>' for name, value in rows)
    ui.html(f'<table class="facts"><tbody>{body}</tbody></table>', sanitize=True)


def listing(texts: Sequence[str]) -> None:
    """A list of sentences."""
    ui.html(f"<ul>{''.join(f'<li>{shown(text)}</li>' for text in texts)}</ul>", sanitize=True)


def code(text: str, label: str) -> ui.element:
    """Something to copy."""
    return element("pre", text, "code", tabindex="0", role="region", aria_label=label)


def chart(figure: Mapping[str, Any], label: str) -> ui.plotly:
    """A chart of `reports/charts.py`, with a name for those who do not see it."""
    made = ui.plotly({**figure, "config": BAR}).classes("chart")
    made.props["role"], made.props["aria-label"] = "img", label
    return made


def button(text: str, does: Handler, classes: str = "", label: str | None = None) -> ui.element:
    """A button; `main` among its classes for the one that goes on."""
    made = element("button", text, f"button {classes}", type="button", **({"aria-label": label} if label else {}))
    return made.on("click", does, args=[])


def link(text: str, to: str, classes: str = "", **attributes: Any) -> ui.element:
    """A link inside the page."""
    return element("a", text, classes, href=to, **attributes)


def term(words: Words, key: str, text: str, work: str) -> None:
    """A word with its explanation: beside the pointer, and behind a link."""
    link(text, f"/work/{work}/terms#{key}", "term", title=words(f"term.{key}"))


@contextmanager
def labelled(label: str, kind: str, hint: str = "") -> Iterator[Callable[[ui.element], None]]:
    """A field's place: its label before it, and a hint behind it; gives what ties the control to both."""
    with ui.element("div").classes(kind):
        name = element("label", label)
        tied: list[ui.element] = []

        def tie(control: ui.element) -> None:
            name.props["for"] = control.html_id
            tied.append(control)

        yield tie
        if hint:
            small = element("small", hint)
            for control in tied:
                control.props["aria-describedby"] = small.html_id


# "^value" is where a field begins; as "value" the browser would be told again at every change of the page.


def field(
    label: str, value: Any, changed: Handler, *, hint: str = "", kind: str = "text", wide: bool = False
) -> ui.element:
    """A line to type in; `changed` hears of every new text when the field is left."""
    with labelled(label, "field wide" if wide else "field", hint) as tie:
        made = ui.element("input")
        for name, setting in {
            "type": kind,
            "^value": "" if value is None else str(value),
            "autocomplete": "off",
        }.items():
            made.props[name] = setting
        made.on("change", lambda event: changed(event.args), js_handler="(e) => emit(e.target.value)")
        tie(made)
    return made


def search(label: str, value: str, changed: Handler) -> None:
    """A field that is heard while somebody types."""
    with labelled(label, "field wide") as tie:
        made = ui.element("input")
        for name, setting in {"type": "search", "^value": value, "autocomplete": "off"}.items():
            made.props[name] = setting
        js = "(e) => emit(e.target.value)"
        made.on("input", lambda event: changed(event.args), throttle=0.3, leading_events=False, js_handler=js)
        tie(made)


def choice(label: str, options: Sequence[tuple[str, str]], value: str, changed: Handler, hint: str = "") -> None:
    """A choice of one; options are values with their texts. Values go to the page as numbers, never as they are."""
    values = [name for name, _ in options]
    with labelled(label, "field", hint) as tie:
        with ui.element("select") as made:
            for place, (name, text) in enumerate(options):
                option = element("option", text, value=str(place))
                if name == value:
                    option.props["selected"] = True
        made.on("change", lambda event: changed(values[int(event.args)]), js_handler="(e) => emit(e.target.value)")
        tie(made)


def check(label: str, value: bool, changed: Handler) -> None:
    """Yes or no."""
    with ui.element("label").classes("check"):
        made = ui.element("input")
        made.props["type"] = "checkbox"
        if value:
            made.props["checked"] = True
        made.on("change", lambda event: changed(bool(event.args)), js_handler="(e) => emit(e.target.checked)")
        element("span", label)


def upload(label: str, to: str, hint: str, failed: Handler) -> None:
    """A file to choose, which is sent at once; `failed` hears what the server answered where it does not take it."""
    send = """async (e) => {
      const file = e.target.files[0];
      if (!file) return;
      try {
        const answer = await fetch(URL + encodeURIComponent(file.name), {method: "PUT", body: file});
        if (!answer.ok) emit(await answer.text());
      } catch (error) { emit("upload_failed"); }
    }""".replace("URL", repr(to))
    with labelled(label, "field wide", hint) as tie:
        made = ui.element("input").props('type="file"')
        made.on("change", lambda event: failed(event.args), js_handler=send)
        tie(made)
