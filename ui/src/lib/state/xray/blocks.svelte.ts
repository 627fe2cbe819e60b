import { SvelteSet } from "svelte/reactivity";
import type { PromptBlock } from "../../api/generated";
import { whyCandidate, whyLeftOut } from "../../i18n/reasons";
import { finder } from "../../text/fold";

/** Filters by what happened to a block. */
export const FATES = ["all", "kept", "reread", "leftOut"] as const;
export type Fate = (typeof FATES)[number];

export interface KindCount {
	kind: string;
	count: number;
}

/** The blocks of one prompt after filters, in prompt order. */
export class BlockList {
	query = $state("");
	fate = $state<Fate>("all");
	/** Kinds to show; if empty, all. */
	readonly kinds = new SvelteSet<string>();
	/** Ids of expanded blocks. */
	readonly opened = new SvelteSet<string>();

	readonly #all: PromptBlock[] = $derived.by(() => this.blocks());
	readonly count: Record<Fate, number> = $derived.by(() => counted(this.#all));
	readonly found: KindCount[] = $derived.by(() => kindsOf(this.#all));
	readonly shown: PromptBlock[] = $derived.by(() => {
		const fits = finder(this.query);
		return this.#all.filter((block) => matches(block, this.fate) && this.#ofKind(block) && fits(wordsOf(block)));
	});

	constructor(private readonly blocks: () => PromptBlock[]) {}

	toggleKind(kind: string): void {
		toggle(this.kinds, kind);
	}

	toggleOpen(id: string): void {
		toggle(this.opened, id);
	}

	/** Clears the filters for another prompt. */
	reset(): void {
		[this.query, this.fate] = ["", "all"];
		this.kinds.clear();
		this.opened.clear();
	}

	// Chosen kinds that this prompt lacks are ignored. They have no chip, so the user could not clear them.
	#ofKind(block: PromptBlock): boolean {
		return !this.found.some(({ kind }) => this.kinds.has(kind)) || this.kinds.has(block.kind);
	}
}

function matches(block: PromptBlock, fate: Fate): boolean {
	switch (fate) {
		case "all":
			return true;
		case "kept":
			return block.kept;
		case "reread":
			return block.kept && !block.reused;
		case "leftOut":
			return !block.kept;
	}
}

/** Everything that a search in the blocks finds. */
function wordsOf(block: PromptBlock): string {
	const { source, text, sourceText } = block;
	return [source, whyCandidate(block), whyLeftOut(block), text, sourceText ?? ""].join("\n");
}

function counted(blocks: PromptBlock[]): Record<Fate, number> {
	const count = (fate: Fate) => blocks.filter((block) => matches(block, fate)).length;
	return { all: blocks.length, kept: count("kept"), reread: count("reread"), leftOut: count("leftOut") };
}

function kindsOf(blocks: PromptBlock[]): KindCount[] {
	const kinds = blocks.map(({ kind }) => kind);
	const firsts = kinds.filter((kind, at) => kinds.indexOf(kind) === at);
	return firsts.map((kind) => ({ kind, count: kinds.filter((other) => other === kind).length }));
}

function toggle<T>(set: Set<T>, item: T): void {
	if (!set.delete(item)) set.add(item);
}
