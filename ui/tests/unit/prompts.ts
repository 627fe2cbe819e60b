import type { Origin, PromptBlock, PromptReport } from "../../src/lib/api/generated";

/** `block("lore 20 the mill")` is a sent block with kind, tokens and text. */
export function block(words: string, over: Partial<PromptBlock> = {}): PromptBlock {
	const [kind = "", tokens = "", ...text] = words.split(" ");
	const origin: Origin = { of: "builtIn" };
	return {
		id: words,
		zone: "window",
		priority: "trimmable",
		kind,
		source: kind,
		origin,
		key: words,
		reason: "always",
		role: "user",
		turn: 0,
		segment: 0,
		score: null,
		signals: [],
		tokens: Number(tokens),
		kept: true,
		droppedReason: null,
		droppedCode: null,
		reasons: [],
		reused: true,
		text: text.join(" "),
		ownText: null,
		sourceText: null,
		...over,
	};
}

export function report(blocks: PromptBlock[], over: Partial<PromptReport> = {}): PromptReport {
	const total = blocks.filter(({ kept }) => kept).reduce((sum, { tokens }) => sum + tokens, 0);
	return {
		text: "",
		segments: [],
		messages: [],
		blocks,
		tokens: { total, limit: 1000, reserve: 100, byZone: { head: 0, digest: 0, window: total, input: 0 }, reusable: 0, measured: null, exact: true, counted: { with: "model", margin: 0, meanError: null } },
		shares: { historyBudget: 0, historyUsed: 0, retrievalBudget: 0, retrievalUsed: 0, digest: 0 },
		placement: "cache-first",
		epoch: 0,
		newEpoch: null,
		anchor: null,
		model: "",
		template: "",
		notices: [],
		timings: { collectMs: null, activateMs: null, countMs: null, planMs: null, totalMs: null, counted: 0 },
		...over,
	};
}
