"""Writes goldens.json and expressions.json: the output of the reference Jinja for our templates.

usage: python3 generate.py      (needs the package `jinja2`; the committed files were made with 3.1.6)

The environment is the one in which transformers and llama.cpp's tools render chat templates. `Template` reimplements the adapter
(`src/chat_template/adapter.rs`) from its description: it probes the forms that a template rejects and renders the adapted
messages.
"""

import datetime
import json
from pathlib import Path

import jinja2.ext
from jinja2 import nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

HERE = Path(__file__).parent
FORMATS = HERE.parents[4] / "presets" / "formats"
NOW = datetime.datetime(2026, 11, 21)
OPENING = "[The chat begins.]"
ROLES = {"s": "system", "u": "user", "c": "assistant"}

# Roles of the turns; a trailing `+` leaves the last turn open. Texts are «0», «1», ...
CHATS = ["u", "su", "uc+", "suc+", "ucu", "sucu", "sucucu", "sucucuc+", "uu", "suuccu", "scu", "cu", "scucu", "sucsu", "ssu", "c+", "suu+"]


class Generation(jinja2.ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("_same"), [], [], body).set_lineno(line)

    def _same(self, caller):
        return caller()


def environment():
    def refuse(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    env = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols]
    )
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = refuse
    env.globals["strftime_now"] = NOW.strftime
    return env


ENV = environment()


class Template:
    def __init__(self, source):
        self.template = ENV.from_string(source)
        ways = [(False, None), (True, None), (False, []), (True, [])]
        self.wants = next((wants for wants in ways if self.takes("u", wants)), ways[0])
        takes = lambda roles: self.takes(roles, self.wants)
        self.system = takes("su") and takes("sucu")
        self.greeting = takes("scu" if self.system else "cu")
        self.later_system = self.system and takes("sucsu") and takes("ssu")
        self.repeats = takes("uuccu")

    def render(self, messages, wants, prompt):
        typed, tools = wants
        if typed:
            messages = [{**m, "content": [{"type": "text", "text": m["content"]}]} for m in messages]
        return self.template.render(
            messages=messages, add_generation_prompt=prompt, bos_token="<s>", eos_token="</s>", tools=tools, documents=None
        )

    def takes(self, roles, wants):
        messages = [{"role": ROLES[role], "content": f"«{i}»"} for i, role in enumerate(roles)]
        try:
            return in_order(self.render(messages, wants, True), len(roles))
        except Exception:
            return False

    def adapt(self, roles):
        head = len(roles) - len(roles.lstrip("s"))
        messages = []
        for i, role in enumerate(roles):
            folded = role == "s" and not (self.system if i < head else self.later_system)
            role = "u" if folded else role
            last = messages[-1] if messages else None
            merges = last and last["role"] == ROLES[role] and (
                not self.repeats or (role == "s" and not self.later_system) or folded or last["folded"]
            )
            if merges:
                last["content"] += f"\n\n«{i}»"
                last["folded"] = folded
            else:
                messages.append({"role": ROLES[role], "content": f"«{i}»", "folded": folded})
        first = next((i for i, m in enumerate(messages) if m["role"] != "system"), None)
        if not self.greeting and first is not None and messages[first]["role"] == "assistant":
            messages.insert(first, {"role": "user", "content": OPENING, "folded": False})
        return [{"role": m["role"], "content": m["content"]} for m in messages]

    def golden(self, chat):
        roles, open_end = chat.rstrip("+"), chat.endswith("+")
        text = self.render(self.adapt(roles), self.wants, not open_end)
        assert in_order(text, len(roles)), (chat, text)
        return text[: text.index(f"«{len(roles) - 1}»") + len(f"«{len(roles) - 1}»")] if open_end else text


def in_order(text, count):
    places = [text.find(f"«{i}»") for i in range(count)]
    return -1 not in places and places == sorted(places) and text.count("«") == count


def main():
    sources = sorted(HERE.glob("templates/*.jinja")) + sorted(FORMATS.glob("*.jinja"))
    goldens = {}
    for source in sources:
        template = Template(source.read_text())
        goldens[f"{source.parent.name}/{source.stem}"] = {chat: template.golden(chat) for chat in CHATS}
    write("goldens.json", goldens)

    expressions = []
    for block in (HERE / "expressions.txt").read_text().split("\n---\n"):
        try:
            expected = ENV.from_string(block).render(**json.loads((HERE / "context.json").read_text()))
        except Exception as error:
            expected = None
            assert "}} {{" not in block, (block, error)
        expressions.append([block, expected])
    write("expressions.json", expressions)


def write(name, value):
    (HERE / name).write_text(json.dumps(value, ensure_ascii=False, indent=0) + "\n")


if __name__ == "__main__":
    main()
