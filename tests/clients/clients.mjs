// Runs the OpenAI SDK for Node against the local API. See README.md.

import OpenAI, { NotFoundError } from "openai";

const model = process.env.MODEL ?? "mira";
const client = new OpenAI({ baseURL: process.env.OPENAI_BASE_URL, timeout: 300_000 });
const history = [
	{ role: "user", content: "Good evening." },
	{ role: "assistant", content: "Good evening, traveller." },
	{ role: "user", content: "Is the lamp lit?" },
];
let failed = false;

function check(name, passed, shown = "") {
	console.log(passed ? "ok  " : "FAIL", name, String(shown).slice(0, 100).replaceAll("\n", " "));
	failed ||= !passed;
}

const models = (await client.models.list()).data.map((one) => one.id);
check("node: models", models.includes(model), models);

const own = await client.chat.completions.create({ model, max_tokens: 24, messages: history.slice(2) });
check("node: own history", own.x_inglenook?.chat, own.choices[0].message.content);

const stream = await client.chat.completions.create({
	model,
	messages: history,
	max_tokens: 24,
	stream: true,
	stream_options: { include_usage: true },
});
let text = "";
let usage;
for await (const chunk of stream) {
	text += chunk.choices[0]?.delta?.content ?? "";
	usage = chunk.usage ?? usage;
}
check("node: stream", text, text);
check("node: usage", usage?.prompt_tokens > 0, JSON.stringify(usage));

const stopped = await client.chat.completions.create({ model, messages: history, stream: true });
for await (const chunk of stopped) if (chunk.choices[0]?.delta?.content) break;
check("node: stopped stream", true);

const unknown = await client.chat.completions
	.create({ model: `${model}x`, messages: history })
	.catch((error) => error);
check("node: unknown model", unknown instanceof NotFoundError && unknown.code === "model_not_found", unknown.message);

process.exit(failed ? 1 : 0);
