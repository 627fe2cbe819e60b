import { SvelteSet } from "svelte/reactivity";
import { asApiError } from "../../api/errors";
import type { ApiError, ChatId, ModelRef, Placement, PromptBlock, PromptReport, WhatIf } from "../../api/generated";
import type { Api } from "../api";
import { Debounce } from "../debounce";

/** The effect of a change: blocks that drop out and blocks that are added. */
export interface TrialChange {
	tokens: number;
	out: PromptBlock[];
	in: PromptBlock[];
}

const same = (a: PromptBlock) => (b: PromptBlock) => a.key === b.key && a.kind === b.kind;

export function difference(now: PromptReport, tried: PromptReport): TrialChange {
	const lacks = (report: PromptReport) => {
		const kept = report.blocks.filter((block) => block.kept);
		return (block: PromptBlock) => block.kept && !kept.some(same(block));
	};
	return {
		tokens: tried.tokens.total - now.tokens.total,
		out: now.blocks.filter(lacks(tried)),
		in: tried.blocks.filter(lacks(now)),
	};
}

/** Previews changes of the next prompt of a chat. Nothing is sent or stored. */
export class Trial {
	readonly without = new SvelteSet<string>();
	limit = $state<number | null>(null);
	model = $state.raw<ModelRef | null>(null);
	placement = $state<Placement | null>(null);
	template = $state<string | null>(null);

	/** The next prompt without the changes. */
	now = $state.raw<PromptReport | null>(null);
	/** The next prompt with the changes. */
	tried = $state.raw<PromptReport | null>(null);
	failure = $state.raw<ApiError | null>(null);
	reading = $state(false);

	readonly touched = $derived(
		this.without.size > 0 || this.limit !== null || this.model !== null || this.placement !== null || this.template !== null,
	);
	readonly difference = $derived(this.now && this.tried ? difference(this.now, this.tried) : null);
	#debounce = new Debounce();
	#asked = 0;

	constructor(
		private readonly api: Api,
		readonly chat: ChatId,
		private text: string,
	) {}

	/** Handles a change of the text in the composer. */
	follow(text: string): void {
		if (text === this.text) return;
		this.text = text;
		this.later();
	}

	toggle(key: string): void {
		if (!this.without.delete(key)) this.without.add(key);
		this.later();
	}

	set(change: Partial<Pick<Trial, "limit" | "model" | "placement" | "template">>): void {
		Object.assign(this, change);
		this.later();
	}

	reset = (): void => {
		this.without.clear();
		this.set({ limit: null, model: null, placement: null, template: null });
	};

	later(): void {
		this.#debounce.run(this.load);
	}

	load = async (): Promise<void> => {
		const asked = ++this.#asked;
		this.reading = true;
		try {
			const now = await this.api.previewPrompt(this.chat, this.text, {});
			if (asked === this.#asked) this.now = now;
			const tried = this.touched ? await this.api.previewPrompt(this.chat, this.text, this.#whatIf()) : null;
			if (asked === this.#asked) [this.tried, this.failure] = [tried, null];
		} catch (thrown) {
			if (asked === this.#asked) [this.tried, this.failure] = [null, asApiError(thrown)];
		}
		if (asked === this.#asked) this.reading = false;
	};

	close(): void {
		this.#debounce.cancel();
		this.#asked++;
	}

	#whatIf(): WhatIf {
		const { limit, model, placement, template } = this;
		return { without: [...this.without], limit, model, placement, template };
	}
}
