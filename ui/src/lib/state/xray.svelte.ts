import { asApiError } from "../api/errors";
import type { ApiError, PromptBlock, PromptReport } from "../api/generated";

/** Parts of the context in the order they are drawn. */
export type Part = "head" | "digest" | "window" | "input" | "reserve" | "free";

export interface Slice {
	part: Part;
	tokens: number;
}

/** What fills the context, from the first token to the last. */
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

export type Filter = "all" | "kept" | "left out";

/** The X-ray: one prompt, block by block. */
export class Xray {
	open = $state(false);
	report = $state.raw<PromptReport | null>(null);
	failure = $state.raw<ApiError | null>(null);
	filter = $state<Filter>("all");
	readonly shown = $derived<PromptBlock[]>(
		(this.report?.blocks ?? []).filter((block) => this.filter === "all" || block.kept === (this.filter === "kept")),
	);
	readonly leftOut = $derived((this.report?.blocks ?? []).filter((block) => !block.kept).length);
	#asked = 0;

	/** Shows the prompt that `ask` gives; of two that are asked for, the later one. */
	async show(ask: () => Promise<PromptReport>): Promise<void> {
		const asked = ++this.#asked;
		this.open = true;
		[this.report, this.failure, this.filter] = [null, null, "all"];
		try {
			const report = await ask();
			if (asked === this.#asked) this.report = report;
		} catch (thrown) {
			if (asked === this.#asked) this.failure = asApiError(thrown);
		}
	}

	close = (): void => {
		this.open = false;
	};
}
