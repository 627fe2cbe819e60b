"""Runs the OpenAI SDK for Python, litellm and llm against the local API. See README.md."""

import json
import os
import subprocess
import sys
import tempfile

import litellm
import openai

MODEL = os.environ.get("MODEL", "mira")
BASE, KEY = os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"]
HISTORY = [
    {"role": "system", "content": "Answer in one short sentence."},
    {"role": "user", "content": "Good evening."},
    {"role": "assistant", "content": "Good evening, traveller."},
    {"role": "user", "content": "Is the lamp lit?"},
]
ONE = [{"role": "user", "content": "Good evening!"}]
client = openai.OpenAI(timeout=300)
failed = []


def check(name, passed, shown=""):
    print("ok  " if passed else "FAIL", name, str(shown)[:100].replace("\n", " "), flush=True)
    if not passed:
        failed.append(name)


def raw_model():
    models = client.models.list().data
    check("openai: models", MODEL in [model.id for model in models], [model.id for model in models])
    kinds = {model.id: model.x_inglenook["kind"] for model in models}
    local = [id for id, kind in kinds.items() if kind in ("local", "endpoint")]
    encoders = [id for id, kind in kinds.items() if kind == "embeddings"]
    return os.environ.get("RAW") or (local or [None])[0], (encoders or [None])[0]


def openai_sdk(raw, encoder):
    check("openai: one model", client.models.retrieve(MODEL).id == MODEL)
    reply = client.chat.completions.create(model=MODEL, messages=ONE, max_tokens=24)
    check("openai: own history", bool(reply.choices[0].message.content), reply.choices[0].message.content)
    chat = reply.x_inglenook["chat"]
    again = client.chat.completions.create(model=MODEL, messages=ONE, max_tokens=24, metadata={"chat": chat})
    check("openai: the same chat", again.x_inglenook["chat"] == chat)
    for model in filter(None, [MODEL, raw]):
        text, usage, finish = "", None, None
        options = {"include_usage": True}
        for chunk in client.chat.completions.create(
            model=model, messages=HISTORY, stream=True, stream_options=options, max_tokens=24
        ):
            usage = chunk.usage or usage
            for choice in chunk.choices:
                text += choice.delta.content or ""
                finish = choice.finish_reason or finish
        check(f"openai: stream of {model}", bool(text) and finish in ("stop", "length"), text)
        check(f"openai: usage of {model}", usage is not None and usage.prompt_tokens > 0, usage)
        whole = client.chat.completions.create(model=model, messages=HISTORY, max_tokens=24, seed=7, temperature=0)
        check(f"openai: whole reply of {model}", whole.object == "chat.completion", whole.choices[0].message.content)
    if raw:
        schema = {"type": "object", "properties": {"lit": {"type": "boolean"}}, "required": ["lit"]}
        shape = {"type": "json_schema", "json_schema": {"name": "lamp", "schema": schema}}
        reply = client.chat.completions.create(model=raw, messages=HISTORY, response_format=shape, max_tokens=64)
        try:
            passed = isinstance(json.loads(reply.choices[0].message.content)["lit"], bool)
        except (ValueError, KeyError, TypeError):
            passed = False
        check("openai: JSON Schema", passed, reply.choices[0].message.content)
        tokens = client.chat.completions.create(
            model=raw, messages=HISTORY, logprobs=True, top_logprobs=2, max_tokens=4
        ).choices[0].logprobs
        check("openai: logprobs", tokens is not None and len(tokens.content[0].top_logprobs) == 2, tokens)
        text = client.completions.create(model=raw, prompt="The lamp is", max_tokens=8).choices[0].text
        check("openai: completion", bool(text), text)
    if encoder:
        data = client.embeddings.create(model=encoder, input=["lamp", "lantern"]).data
        norm = sum(value * value for value in data[0].embedding)
        check("openai: embeddings", len(data) == 2 and abs(norm - 1) < 0.01, len(data[0].embedding))
    try:
        client.chat.completions.create(model=MODEL + "x", messages=ONE)
        check("openai: unknown model", False)
    except openai.NotFoundError as error:
        check("openai: unknown model", error.code == "model_not_found", error.message)
    try:
        openai.OpenAI(api_key="sk-wrong").models.list()
        check("openai: wrong key", False)
    except openai.AuthenticationError as error:
        check("openai: wrong key", error.code == "invalid_api_key", error.message)


def litellm_client():
    name = f"openai/{MODEL}"
    reply = litellm.completion(model=name, messages=HISTORY, api_base=BASE, api_key=KEY, max_tokens=24)
    check("litellm: whole reply", bool(reply.choices[0].message.content), reply.choices[0].message.content)
    stream = litellm.completion(model=name, messages=HISTORY, api_base=BASE, api_key=KEY, stream=True, max_tokens=24)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
    check("litellm: stream", bool(text), text)


def llm_client():
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "extra-openai-models.yaml"), "w", encoding="utf-8") as file:
            file.write(f"- model_id: inglenook\n  model_name: {MODEL}\n  api_base: {BASE}\n  api_key_name: inglenook\n")
        program = os.path.join(os.path.dirname(sys.executable), "llm")
        environment = {**os.environ, "LLM_USER_PATH": folder}
        for extra in [[], ["--no-stream"]]:
            command = [program, "-m", "inglenook", "--key", KEY, "-o", "max_tokens", "24", *extra, "Good evening!"]
            done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
            check(f"llm {' '.join(extra)}", done.returncode == 0 and bool(done.stdout.strip()), done.stdout or done.stderr)


openai_sdk(*raw_model())
litellm_client()
llm_client()
sys.exit(1 if failed else 0)
