import type { PromptReport } from "../../api/generated";

/** Parts of the context, in drawing order. */
export type Part = "head" | "digest" | "window" | "input" | "reserve" | "free";

export interface Slice {
	part: Part;
	tokens: number;
}

/** The parts of the context with their token counts. Empty parts are omitted. */
export function slices({ tokens }: PromptReport): Slice[] {
	const { head, digest, window, input } = tokens.byZone;
	const free = Math.max(0, tokens.limit - tokens.total - tokens.reserve);
	const all: Slice[] = [
		{ part: "head", tokens: head },
		{ part: "digest", tokens: digest },
		{ part: "window", tokens: window },
		{ part: "input", tokens: input },
		{ part: "reserve", tokens: tokens.reserve },
		{ part: "free", tokens: free },
	];
	return all.filter((slice) => slice.tokens > 0);
}
