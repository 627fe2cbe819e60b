import type { ApiError, ChangedText, Message, Origin, PastTurn, PromptBlock, PromptComparison, PromptReport, PromptStage, StageComparison, WhatIf, Zone } from "../../src/lib/api/generated";
import { ago, characters, conversation, figures } from "./data";
import { sectionsOf } from "./presets";

const card = (field: string): Origin => ({ of: "card", character: "c1", field });
const template = (section: string): Origin => ({ of: "template", template: "base-roleplay", section });

let made = 0;

function block(zone: Zone, kind: string, source: string, origin: Origin, tokens: number, text: string, over: Partial<PromptBlock> = {}): PromptBlock {
	const id = `b${made++}`;
	const role = zone === "head" || zone === "digest" ? "system" : "user";
	return { id, zone, priority: zone === "digest" ? "high" : kind === "message" || zone === "input" ? "trimmable" : "must", kind, source, origin, key: `${kind}:${id}`, reason: "always", reasons: [], role, turn: 0, segment: 1, score: null, signals: [], tokens, kept: true, droppedReason: null, droppedCode: null, reused: zone !== "input", text, ownText: null, sourceText: null, ...over };
}

const left = (droppedReason: string): Partial<PromptBlock> => ({ kept: false, droppedReason, turn: null, segment: null, reused: false });

function said(message: Message, over: Partial<PromptBlock> = {}): PromptBlock {
	const text = message.swipes[message.selected]?.text ?? "";
	return block("window", "message", `said by ${message.name}`, { of: "message", id: message.id }, Math.ceil(text.length / 4), text, { reason: "recent message", role: message.role === "user" ? "user" : "assistant", ...over });
}

const RULES = "Write Mira's next reply in a chat with Wanderer. Write two to four paragraphs, in the third person and the present tense.\n1. Never write Wanderer's words or deeds.\n2. Let the world answer back.\n3. End where Wanderer can act.";
const RULES_WRITTEN = RULES.replaceAll("Mira", "${character.name}").replaceAll("Wanderer", "${persona.name}");
const EXAMPLES_WRITTEN = "<START>\n{{user}}: Good evening.\n{{char}}: “Is it? I had lost count.”";

function blocks(): PromptBlock[] {
	const talk = conversation();
	return [
		block("head", "rules", "section rules of Base Role-play", template("rules"), 58, RULES),
		block("head", "description", "card of Mira", card("description"), 71, characters[0]?.fields.description ?? "", { sourceText: characters[0]?.fields.description.replaceAll("Mira", "{{char}}") ?? null }),
		block("head", "personality", "card of Mira", card("personality"), 9, "warm, dry-witted, observant"),
		block("head", "scenario", "card of Mira", card("scenario"), 12, "A rainy evening in Mira's workshop."),
		block("head", "persona", "persona Wanderer", { of: "persona", id: "p1" }, 17, "A traveller who keeps a notebook and asks too many questions."),
		block("head", "examples", "card of Mira", card("mes_example"), 340, "<START>\nWanderer: Good evening.\nMira: “Is it? I had lost count.”", { sourceText: EXAMPLES_WRITTEN, reason: "kept while there is room", ...left("no room for examples beside the history") }),
		block("digest", "keyframe", "summary of earlier messages", { of: "keyframe", id: "k1", first: "g" }, 88, "Wanderer came up from the coast road in the rain and found the workshop by its light. Mira made tea.", { reason: "stands for messages before the window" }),
		block("digest", "pinned", "said by Wanderer", { of: "message", id: "g" }, 24, "“I promised my sister I would be home by the first snow.”", { reason: "pinned by you" }),
		block("window", "message", "38 older messages", { of: "older", first: "g", last: "g", count: 38 }, 4210, "", { reason: "before the window", ...left("older than the window") }),
		...talk.slice(0, -1).map((message) => said(message)),
		block("input", "lore", "“The mill” of The Hill Town", { of: "lore", book: "l1", entry: "e4" }, 46, "The mill has stood dark since the miller's boy went up to light it and did not come down.", { reason: "found “mill” in the last 4 messages", score: null }),
		block("input", "lore", "“The hill road” of The Hill Town", { of: "lore", book: "l1", entry: "e9" }, 210, "The hill road is paved with river stones.", { reason: "found “road”", ...left("no room in its share of the budget") }),
		block("input", "memory", "memory", { of: "memory", id: "m1" }, 15, "Wanderer reads by candle at night.", { reason: "close to what is said", score: 0.81 }),
		block("input", "memory", "memory", { of: "memory", id: "m2" }, 18, "Mira's brother left for the sea.", { reason: "close to what is said", score: 0.34, ...left("no room in its share of the budget") }),
		block("input", "mode", "mode creative", { of: "mode", name: "creative" }, 31, "Wanderer and Mira are making something up together.", { reason: "the mode of this chat" }),
		block("input", "note", "author's note", { of: "setting", key: "author_note" }, 14, "It has begun to rain. The lamps hiss.", { reason: "every message" }),
		block("input", "clock", "date and time", { of: "clock" }, 12, "Saturday, 21 November 2026, 23:11", { reason: "half an hour has passed" }),
		block("input", "message", "said by Wanderer", { of: "message", id: "u2" }, 19, "Could you draw me a map of them? All the lights, and who lives beneath.", { reason: "your message" }),
	];
}

export function reportOf(all: PromptBlock[], limit = 2048): PromptReport {
	const kept = all.filter((one) => one.kept);
	const zone = (name: Zone) => kept.filter((one) => one.zone === name).reduce((sum, one) => sum + one.tokens, 0);
	const byZone = { head: zone("head"), digest: zone("digest"), window: zone("window"), input: zone("input") };
	const total = byZone.head + byZone.digest + byZone.window + byZone.input;
	const segments = kept.flatMap((one) => [
		{ text: `<|im_start|>${one.role}\n`, control: true },
		{ text: one.text, control: false },
		{ text: "<|im_end|>\n", control: true },
	]);
	return {
		text: segments.map(({ text }) => text).join(""),
		segments: [...segments, { text: "<|im_start|>assistant\n", control: true }],
		messages: [],
		blocks: all,
		tokens: { total, limit, reserve: 512, byZone, reusable: Math.round(total * 0.94), measured: null, exact: true, counted: { with: "model", margin: 0, meanError: null } },
		shares: { historyBudget: 1180, historyUsed: byZone.window, retrievalBudget: 256, retrievalUsed: byZone.input, digest: byZone.digest },
		placement: "cache-first",
		epoch: 3,
		newEpoch: null,
		anchor: "u1",
		model: "SmolLM2 135M Instruct",
		template: "base-roleplay",
		notices: [],
		timings: { collectMs: 3.12, activateMs: 1.84, countMs: 0.41, planMs: 0.96, totalMs: 7.4, counted: 0 },
	};
}

/** A prompt of hundreds of blocks, with every kind of note on a block. */
function crowded(): PromptReport {
	const lines = Array.from({ length: 400 }, (_, index) => block("window", "message", `said by ${index % 2 ? "Wanderer" : "Mira"}`, { of: "message", id: `l${200 + index}` }, 40 + (index % 60), `${index + 1}. The wind has turned, and with it the smoke of every chimney in the town.`, { reason: "recent message", reused: false }));
	const report = reportOf([...blocks().slice(0, 8), ...lines, ...blocks().slice(-3)], 32_768);
	const notices = ["Unknown macros in the card stay as text: {{weather}}, {{moon_phase}}", "Two scripts of the card do not run: they are not allowed yet."];
	return { ...report, epoch: 4, newEpoch: "the window was full", notices, tokens: { ...report.tokens, exact: false, counted: { with: "o200k_base", margin: 983, meanError: 0.021 }, reusable: 133 } };
}

const LINES = "Mira keeps the lamps of a small hill town.\n".repeat(412);
const PARTS: ChangedText[] = [
	{ change: "same", text: `<|im_start|>system\n${RULES}\n${LINES}<|im_end|>\n<|im_start|>user\nIs it true you know every lamp in town?\n<|im_end|>\n` },
	{ change: "removed", text: "<|im_start|>assistant\n" },
	{ change: "added", text: "<|im_start|>assistant\n“Every lamp, and most of the people who sit beneath them,” Mira says.\n<|im_end|>\n<|im_start|>user\nCould you draw me a map of them?\n<|im_end|>\n<|im_start|>assistant\n" },
];

const TALK = "Mira keeps the lamps of a small hill town.\nwarm, dry-witted, observant\nIs it true you know every lamp in town?\nCould you draw me a map of them? All the lights, and who lives beneath.\n";
const EXAMPLES = "<START>\nWanderer: Good evening.\nMira: “Is it? I had lost count.”\n";

/** The comparison of each stage with the one before. */
const STAGES: Record<PromptStage, StageComparison> = {
	sources: { stage: "sources", before: null, parts: [{ change: "same", text: `${RULES_WRITTEN}\n${TALK}${EXAMPLES_WRITTEN}\n` }] },
	filled: {
		stage: "filled",
		before: "sources",
		parts: [{ change: "removed", text: `${RULES_WRITTEN}\n` }, { change: "added", text: `${RULES}\n` }, { change: "same", text: `${TALK}<START>\n` }, { change: "removed", text: EXAMPLES_WRITTEN.replace("<START>\n", "") }, { change: "added", text: EXAMPLES.replace("<START>\n", "") }],
	},
	budget: { stage: "budget", before: "filled", parts: [{ change: "same", text: `${RULES}\n${TALK}` }, { change: "removed", text: EXAMPLES }] },
	sent: {
		stage: "sent",
		before: "budget",
		parts: [{ change: "added", text: "<|im_start|>system\n" }, { change: "same", text: `${RULES}\n${TALK}` }, { change: "added", text: "<|im_end|>\n<|im_start|>assistant\n" }],
	},
};

/** The prompt data of the scripted engine. */
export class MockPrompts {
	/** If set, every prompt fails with this error. */
	failure: ApiError | null = null;

	/** `areGone`: whether the prompts of past turns are deleted. */
	constructor(
		private readonly scene: string,
		private readonly areGone: () => boolean,
	) {}

	op_preview_prompt = ({ text, whatIf }: { text: string; whatIf: WhatIf }): PromptReport => {
		if (this.failure) throw this.failure;
		made = 0;
		const tight = (whatIf.limit ?? 2048) < 1024;
		const all = blocks().map((one) => {
			if (whatIf.without?.includes(one.key)) return { ...one, ...left("left out by you") };
			return tight && one.zone === "digest" ? { ...one, ...left("given up, because the prompt was over the limit") } : one;
		});
		const rules = all[0];
		const written = whatIf.templateJson ? sectionsOf(whatIf.templateJson)[0] : undefined;
		if (rules && written) [rules.text, rules.tokens] = [written.text, written.tokens];
		const words = all.at(-1);
		if (words && text) [words.text, words.tokens] = [text, Math.ceil(text.length / 4)];
		return { ...reportOf(all, whatIf.limit ?? 2048), placement: whatIf.placement ?? "cache-first" };
	};
	op_manifest = ({ swipe }: { swipe: string }): PromptReport => {
		if (swipe === "gone") throw { kind: "notFound", message: "There is no record of what was sent." } satisfies ApiError;
		if (this.areGone()) throw { kind: "promptNotKept", message: "The prompt of this reply was not kept.", hint: "The settings, in Privacy, decide which prompts of past turns are kept." } satisfies ApiError;
		made = 0;
		if (this.scene === "xraymany") return crowded();
		const report = reportOf(blocks());
		// The same figures as below the reply.
		return { ...report, tokens: { ...report.tokens, measured: { tokens: 412, reused: 396 } } };
	};
	op_compare_prompt = ({ swipe }: { swipe: string }): PromptComparison => ({ previous: `before ${swipe}`, parts: PARTS });
	op_compare_next = ({ text }: { text: string }): PromptComparison => ({ previous: "a2s1", parts: [...PARTS.slice(0, 1), { change: "added", text: `${text}\n` }] });
	op_prompt_stage = ({ stage }: { stage: PromptStage }): StageComparison => STAGES[stage];
	op_next_stage = ({ stage }: { stage: PromptStage }): StageComparison => STAGES[stage];
	op_past_turns = ({ before, limit }: { before: string | null; limit: number }): PastTurn[] => {
		const from = before === null ? 0 : Number(before.slice(1)) + 1;
		const count = Math.max(0, Math.min(limit, 90 - from));
		return Array.from({ length: count }, (_, index) => {
			const at = from + index;
			return { message: `t${at}`, swipe: at === 0 ? "a2s1" : `t${at}s`, line: at % 3 ? "“Every lamp, and most of the people who sit beneath them,” Mira says, pouring something dark." : "She laughs, a short surprised sound.", created: ago(at + 0.2), model: "SmolLM2 135M Instruct", figures: { ...figures, prompt: 1500 - at * 9, reused: 1400 - at * 9 } };
		});
	};
}
