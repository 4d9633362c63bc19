#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The manual page of suede-lab and its completion, from the declarations of options, commands and keys. Run by the build.

  manual.py page TEMPLATE      the page, for scdoc
  manual.py completion         a script for bash
  manual.py completion-zsh     a function for zsh
"""

import argparse
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from labkit import commands, main, schema, start  # noqa: E402  pylint: disable=wrong-import-position

PAGES = {"configuration.md": "suede.yaml(5)", "switch.md": "suede-switch(8)", "suede-perf.md": "suede-perf(1)", "metrics.md":
         "suede-counters(7)", "events.md": "suede-events(7)", "mesh.md": "suede-mesh(1)"}


def plain(text):
    """Text without a meaning to scdoc."""
    for page, section in PAGES.items():
        text = text.replace(page, section)
    text = re.sub(r"([\\*_~])", r"\\\1", text.replace("`", "").replace("\n", " "))
    return "\\" + text if text[:1] in tuple("#-.|[];") else text


def definition(term, meaning):
    return f"{term}\n\t{plain(meaning)}\n\n"


def _sentence(text):
    return (text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")).replace("%%", "%")


def _options(parser):
    return [action for action in parser._actions if not isinstance(action, argparse._HelpAction)]  # pylint: disable=protected-access


def _term(action):
    metavar = action.metavar or ("{" + ",".join(map(str, action.choices)) + "}" if action.choices else action.dest.upper())
    value = "" if action.nargs == 0 else " " + " ".join(metavar if isinstance(metavar, tuple) else (metavar,))
    if not action.option_strings:
        return f"_{plain(value.strip())}_"
    return ", ".join(f"*{plain(flag)}*" for flag in action.option_strings) + (f" _{plain(value.strip())}_" if value else "")


def _flags(parser):
    return "".join(definition(_term(action), _sentence(action.help)) for action in _options(parser))


def _commands():
    text = ""
    for name, (_, _, sentence) in commands.COMMANDS.items():
        parser = commands.make_parser(name)
        words = " ".join(_term(action) for action in _options(parser) if not action.option_strings)
        text += f"## {name} {words.replace('_', '').replace(chr(92), '')}\n\n".replace("\\", "") + plain(_sentence(sentence)) + "\n\n"
        text += _flags(parser)
    return text


def _keys():
    text = ""
    for path, values, default, meaning in schema.rows():
        if not meaning:
            continue
        if not values and default in ("", "required"):
            text += definition(f"*{plain(path.strip('`'))}*", meaning)
        else:
            about = "; ".join(each for each in (values, default if default == "required" else f"default {default}" if default else "")
                              if each)
            text += definition(f"*{plain(path.strip('`'))}* ({plain(about)})", meaning)
    return text


def _exit_codes():
    return "".join(definition(f"*{code}*", sentence) for code, sentence in start.EXIT_CODES)


FRAGMENTS = {"suede_lab_flags": lambda: _flags(main.make_parser()), "suede_lab_commands": _commands, "suede_lab_keys": _keys,
             "suede_lab_exit_codes": _exit_codes}


def page(template):
    """The template with its fragments. Raises KeyError for one that is not known."""
    text = re.sub(r"@(\w+)@", lambda found: FRAGMENTS[found[1]](), template)
    return re.sub(r"\n{3,}", "\n\n", text).rstrip("\n") + "\n"


def flags_of(parser):
    return " ".join(flag for action in parser._actions for flag in action.option_strings  # pylint: disable=protected-access
                    if flag.startswith("--"))


def first_words():
    return f"{' '.join(commands.COMMANDS)} {flags_of(main.make_parser())}"


def zsh_completion():
    cases = "".join(f'  {name}) offered="{flags_of(commands.make_parser(name))}" ;;\n' for name in commands.COMMANDS)
    return f"""#compdef suede-lab
local offered
case ${{words[2]}} in
{cases}  *) offered="{flags_of(main.make_parser())}" ;;
esac
(( CURRENT > 2 )) || offered="{first_words()}"
compadd -- ${{=offered}}
[[ $PREFIX == -* ]] || _files
"""


def completion():
    cases = "".join(f'    {name}) words="{flags_of(commands.make_parser(name))}" ;;\n' for name in commands.COMMANDS)
    return f"""# bash completion of suede-lab
_suede_lab() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} command=${{COMP_WORDS[1]}} words
  [ "$COMP_CWORD" != 1 ] || command=
  case $command in
{cases}    *) words="{first_words()}" ;;
  esac
  case $current in
    -*) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
    *) COMPREPLY=($(compgen -W "$words" -- "$current"; compgen -f -- "$current"; true)) ;;
  esac
}}
complete -o filenames -F _suede_lab suede-lab
"""


if __name__ == "__main__":
    if sys.argv[1:2] == ["page"] and len(sys.argv) == 3:
        print(page(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8")), end="")
    elif sys.argv[1:] == ["completion"]:
        print(completion(), end="")
    elif sys.argv[1:] == ["completion-zsh"]:
        print(zsh_completion(), end="")
    else:
        sys.exit("usage: manual.py page TEMPLATE | completion | completion-zsh")
