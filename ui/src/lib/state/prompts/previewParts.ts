import type { PromptBlock, RenderedSection } from "../../api/generated";

/** A row of the template preview. */
export type PreviewPart =
	| { kind: "section"; block: PromptBlock; section: string }
	| { kind: "block"; block: PromptBlock }
	/** Consecutive messages of the context window. */
	| { kind: "messages"; id: string; count: number; tokens: number; first: string; last: string };

/** The rows of the preview, top to bottom: template sections by name, and each run of messages as one row. */
export function previewParts(blocks: PromptBlock[], sections: RenderedSection[]): PreviewPart[] {
	const parts: PreviewPart[] = [];
	for (const block of blocks.filter(({ kept }) => kept)) {
		const section = sections.find(({ text }) => text === block.text);
		const before = parts.at(-1);
		if (section) parts.push({ kind: "section", block, section: section.name });
		else if (block.kind !== "message") parts.push({ kind: "block", block });
		else if (before?.kind === "messages") Object.assign(before, { count: before.count + 1, tokens: before.tokens + block.tokens, last: block.text });
		else parts.push({ kind: "messages", id: block.id, count: 1, tokens: block.tokens, first: block.text, last: block.text });
	}
	return parts;
}
