import type { Character, CharacterFields, Endpoint, EndpointService, ImportRecord, Message, Model, Persona, Role, Swipe } from "../../src/lib/api/generated";
import { NEW_PERSONA } from "../../src/lib/state/newPersona";

const HOUR = 3_600_000;
const started = Date.now() - 3 * HOUR;

export const ago = (hours: number) => new Date(Date.now() - hours * HOUR).toISOString();

const fields = (over: Partial<CharacterFields>): CharacterFields => ({
	name: "",
	nickname: "",
	description: "",
	personality: "",
	scenario: "",
	firstMessage: "",
	alternateGreetings: [],
	messageExamples: "",
	systemPrompt: "",
	postHistoryInstructions: "",
	creatorNotes: "",
	translatedNotes: [],
	creator: "",
	characterVersion: "",
	tags: [],
	groupOnlyGreetings: [],
	depthPrompt: { text: "", depth: 4, role: "system" },
	talkativeness: null,
	...over,
});

const MIRA = `*The rain has followed you in. Behind the counter a woman with ink on her fingers looks up from a lamp she has taken apart, and smiles as if she had been waiting for exactly this interruption.*

“You look like someone who has walked past three inns to find this one,” *she says, and nudges a stool out with her foot.* “Sit. The kettle is nearly there. I'm Mira. What brings you up the hill at this hour?”`;

const OTHER = `*The workshop is dark but for one lamp. Mira holds a finger to her lips.* “Quiet a moment. Do you hear it? The big lamp at the gate hums before it goes out.”`;

export const characters: Character[] = [
	character("c1", fields({
		name: "Mira",
		description: "Mira keeps the lamps of a small hill town. She is forty, curious, unhurried, and knows everyone's comings and goings by the light they burn.",
		personality: "warm, dry-witted, observant",
		scenario: "A rainy evening in Mira's workshop.",
		firstMessage: MIRA,
		alternateGreetings: [OTHER],
		creatorNotes: "A lamplighter who listens.",
		creator: "Inglenook",
		translatedNotes: [{ language: "de", text: "Eine Laternenanzünderin, die zuhört." }],
		characterVersion: "1.0",
		tags: ["cozy", "fantasy", "slice of life"],
		groupOnlyGreetings: ["*Mira counts heads.* “That is one cup too few.”"],
		depthPrompt: { text: "{{char}} notices light before faces.", depth: 4, role: "system" },
		talkativeness: 0.35,
	})),
	character("c2", fields({ name: "Captain Osei", description: "Retired cartographer of a drowned coast, now pilot of the night ferry.", tags: ["adventure", "sea"], firstMessage: "“Mind the third plank.”" })),
	character("c3", fields({ name: "Dr. Ines Valdivieso-Montenegro", description: "An archivist who answers every question with a better one.", tags: ["mystery"], firstMessage: "“Ah. You found the wrong door.”" })),
	character("c4", fields({ name: "Juniper", description: "A hedge witch's apprentice with opinions about tea.", tags: ["cozy", "magic"], firstMessage: "“Careful, that one bites.”" })),
	character("c5", fields({ name: "雪", description: "A mountain guide of few words.", tags: ["travel"], firstMessage: "「ようこそ。」" })),
	character("c6", fields({ name: "Basil the Unlikely", description: "A knight-errant whose horse does the thinking.", tags: ["comedy", "fantasy"], firstMessage: "“Behold!”" })),
];

function character(id: string, content: CharacterFields): Character {
	return { id, picture: id === "c6" ? null : id, spec: "chara_card_v3", fields: content, sources: id === "c1" ? ["https://cards.example/mira", "a1b2c3d4"] : [], created: ago(400), updated: ago(30) };
}

export const nobody: Persona = { ...NEW_PERSONA, id: "p1", name: "Wanderer" };

export const personas: Persona[] = [
	{ id: "p1", name: "Wanderer", description: "A traveller who keeps a notebook and asks too many questions.", instructions: "", picture: "c5", place: { position: "template", depth: 2, role: "system" }, characters: ["c2"] },
	{ id: "p2", name: "Sam", description: "", instructions: "", picture: null, place: { position: "inChat", depth: 4, role: "user" }, characters: [] },
];

export const models: Model[] = [
	{ id: "m1", name: "SmolLM2 135M Instruct", path: "/home/sam/.local/share/inglenook/models/SmolLM2-135M-Instruct-Q4_K_M.gguf", bytes: 105_454_432, sha256: "2e8040ce", architecture: "llama", context: 8192, fits: "yes", missing: false, note: null, default: true, readsPictures: false },
	{ id: "m2", name: "Mistral Small 24B Instruct Q4_K_M", path: "/media/models/mistral-small-24b-q4_k_m.gguf", bytes: 14_334_446_752, sha256: "77a1", architecture: "llama", context: 131_072, fits: "tight", missing: false, note: null, default: false, readsPictures: false },
	{ id: "m3", name: "Qwen3 235B A22B", path: "/media/models/qwen3-235b.gguf", bytes: 142_000_000_000, sha256: "99b2", architecture: "qwen3moe", context: 40_960, fits: "no", missing: false, note: null, default: false, readsPictures: false },
];

const offered = (endpoint: string, ...names: string[]) => names.map((name, index) => ({ id: `${endpoint}-${index}`, name, context: 32_768, typed: false }));

export const services: EndpointService[] = [
	{ id: "llamacpp", name: "llama.cpp", url: "http://127.0.0.1:8080/v1", dialect: "openai", key: "optional", keyUrl: "" },
	{ id: "ollama", name: "Ollama", url: "http://127.0.0.1:11434", dialect: "ollama", key: "none", keyUrl: "" },
	{ id: "lmstudio", name: "LM Studio", url: "http://127.0.0.1:1234/v1", dialect: "openai", key: "none", keyUrl: "" },
	{ id: "koboldcpp", name: "KoboldCpp", url: "http://127.0.0.1:5001/v1", dialect: "openai", key: "optional", keyUrl: "" },
	{ id: "vllm", name: "vLLM", url: "http://127.0.0.1:8000/v1", dialect: "openai", key: "optional", keyUrl: "" },
	{ id: "openrouter", name: "OpenRouter", url: "https://openrouter.ai/api/v1", dialect: "openai", key: "required", keyUrl: "https://openrouter.ai/settings/keys" },
	{ id: "anthropic", name: "Anthropic", url: "https://api.anthropic.com/v1", dialect: "anthropic", key: "required", keyUrl: "https://console.anthropic.com/settings/keys" },
	{ id: "gemini", name: "Google Gemini", url: "https://generativelanguage.googleapis.com/v1beta", dialect: "gemini", key: "required", keyUrl: "https://aistudio.google.com/apikey" },
	{ id: "openai", name: "OpenAI", url: "https://api.openai.com/v1", dialect: "openai", key: "required", keyUrl: "https://platform.openai.com/api-keys" },
	{ id: "mistral", name: "Mistral", url: "https://api.mistral.ai/v1", dialect: "openai", key: "required", keyUrl: "https://console.mistral.ai/api-keys" },
	{ id: "deepseek", name: "DeepSeek", url: "https://api.deepseek.com/v1", dialect: "openai", key: "required", keyUrl: "https://platform.deepseek.com/api_keys" },
	{ id: "groq", name: "Groq", url: "https://api.groq.com/openai/v1", dialect: "openai", key: "required", keyUrl: "https://console.groq.com/keys" },
];

export const importRecords: ImportRecord[] = [
	{ id: "i3", created: ago(0.2), imported: 14, skipped: 3, refused: 1, cancelled: false },
	{ id: "i2", created: ago(26), imported: 1, skipped: 0, refused: 0, cancelled: false },
	{ id: "i1", created: ago(200), imported: 412, skipped: 9, refused: 0, cancelled: true },
];

export const endpoints: Endpoint[] = [
	{ id: "e1", name: "LM Studio", dialect: "openai", url: "http://127.0.0.1:1234/v1", model: "gemma-3-12b-it", context: 32_768, models: offered("e1", "gemma-3-12b-it", "qwen3-8b"), headers: [], hasKey: false, keyIsForSession: false, default: false, defaultModel: null, countedWith: "tokenizer.json", meanError: 0.018, learned: [] },
	{
		id: "e2", name: "OpenRouter", dialect: "openai", url: "https://openrouter.ai/api/v1", model: "mistralai/mistral-small-3.2-24b-instruct", context: 96_000, headers: ["http-referer"],
		models: offered("e2", "mistralai/mistral-small-3.2-24b-instruct", "anthropic/claude-sonnet-4", "deepseek/deepseek-chat-v3", "google/gemini-2.5-flash", "meta-llama/llama-3.3-70b-instruct", "openai/gpt-4o", "qwen/qwen3-235b-a22b", "nousresearch/hermes-4-405b", "moonshotai/kimi-k2", "thedrummer/cydonia-24b"),
		hasKey: true, keyIsForSession: true, default: false, defaultModel: null, countedWith: "estimate", meanError: null, learned: [{ kind: "leavesOut", parameters: ["top_k"] }, { kind: "strictRoles" }],
	},
];

export const swipe = (id: string, text: string, over: Partial<Swipe> = {}): Swipe => ({
	id,
	text,
	state: "finished",
	created: ago(1),
	model: null,
	display: null,
	figures: null,
	toolCalls: [],
	emotion: null,
	...over,
});

export const figures = { prompt: 412, reused: 396, evaluated: 16, generated: 87, prefillMs: 270, firstTextMs: 310, decodeMs: 1450, thoughtMs: null };

export function message(id: string, role: Role, swipes: Swipe[], over: Partial<Message> = {}): Message {
	return { id, role, name: role === "user" ? "Wanderer" : "Mira", swipes, selected: 0, pinned: false, canRegenerate: role !== "user", pictures: [], created: new Date(started).toISOString(), ...over };
}

export const greeting = () => message("g", "character", [swipe("g0", MIRA), swipe("g1", OTHER)], { canRegenerate: false });

export const REPLY = `*She laughs, a short surprised sound, and sets two cups on the bench between the gears.*

“A map of all the lights? Nobody has asked me for that in years.” *Her thumb finds a smear of soot on the brass and rubs at it.* “There are **one hundred and forty-one** lamps in town. I can tell you which ones lie.”

*The kettle begins to complain. She lifts it off without looking.*

“The one over the baker's door burns late on Thursdays. The one at the mill has not been lit since autumn, and yet…” *She tilts her head toward the window.* “Go on. Look.”`;

export const conversation = (): Message[] => [
	greeting(),
	message("u1", "user", [swipe("u1s", "I saw your light from the road. *I shake the rain off my coat and take the stool.* Is it true you know every lamp in town?")]),
	message("a1", "character", [
		swipe("a1s", "“Every lamp, and most of the people who sit beneath them,” *Mira says, pouring something dark and fragrant into a chipped cup.* “Light tells on people. They draw the curtains and think nobody knows they are awake.”\n\n*She slides the cup over.* “You, for instance, have been reading by candle. There is wax on your sleeve.”", { model: "SmolLM2 135M Instruct", figures }),
	]),
	message("u2", "user", [swipe("u2s", "Could you draw me a map of them? All the lights, and who lives beneath.")]),
	message("a2", "character", [
		swipe("a2s0", "“A map?” *Mira says.* “I suppose I could.”", { model: "SmolLM2 135M Instruct", figures }),
		swipe("a2s1", REPLY, { model: "SmolLM2 135M Instruct", figures }),
		swipe("a2s2", "*She shakes her head slowly.* “Not all of them. Some lights ask not to be known.”", { model: "SmolLM2 135M Instruct", figures }),
	], { selected: 1 }),
];

export function longChat(count: number): Message[] {
	const lines = ["The wind has turned.", "*He waits.* “And then?”", "“Then the lamp went out, and nobody relit it for a year.”", REPLY];
	return Array.from({ length: count }, (_, index) => {
		const role = index % 2 === 0 ? "character" : "user";
		return message(`l${index}`, role, [swipe(`l${index}s`, `${index + 1}. ${lines[(index * 7) % lines.length]}`)]);
	});
}

/** Messages that are higher than the view. A word stands deep inside the first and the last. */
export function tallChat(): Message[] {
	const paragraphs = (word: string) => Array.from({ length: 60 }, (_, at) => `${at === 0 ? "Firstline. " : ""}${at === 40 ? word : ""} ${at + 1}. ${"The lamps are lit along the quay, and the harbour is quiet tonight. ".repeat(4)}`).join("\n\n");
	const short = (of: number) => message(`t${of}`, of % 2 === 0 ? "character" : "user", [swipe(`t${of}s`, "A short line.")]);
	return [message("t0", "character", [swipe("t0s", paragraphs("Needleword."))]), short(1), short(2), short(3), message("t4", "character", [swipe("t4s", `${paragraphs("Haystack.")}\n\nThe very end.`)])];
}

/** Pictures that are generated, so that no file is needed. */
export function portrait(hash: string): string {
	const [back, robe, skin, hair] = { c1: ["#3b2a20", "#7a4a2a", "#e0b088", "#2a1a14"], c2: ["#1f3440", "#2f5666", "#6b4630", "#d8d2c8"], c3: ["#3a2434", "#6b3a58", "#d9a680", "#4a2a1a"], c4: ["#24361f", "#4f7a3a", "#f0c8a8", "#b4501c"], c5: ["#2c3850", "#c8d0e0", "#f2d8c0", "#14141c"] }[hash] ?? ["#333", "#555", "#ccc", "#222"];
	const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 300 400"><rect width="300" height="400" fill="${back}"/><circle cx="225" cy="90" r="46" fill="#f2c48d" opacity=".55"/><circle cx="225" cy="90" r="26" fill="#f7dcae"/><path d="M20 400q10-150 130-150t130 150z" fill="${robe}"/><rect x="125" y="200" width="50" height="70" rx="22" fill="${skin}"/><ellipse cx="150" cy="160" rx="60" ry="72" fill="${skin}"/><path d="M86 165q-8-96 64-98t66 98q-14-58-66-62t-64 62z" fill="${hair}"/><circle cx="128" cy="165" r="5" fill="#201410"/><circle cx="172" cy="165" r="5" fill="#201410"/><path d="M132 196q18 12 36 0" stroke="#201410" stroke-width="3" fill="none" stroke-linecap="round"/></svg>`;
	return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
