import type { TokenizerAndRendererExtension } from "marked";

/** Maximum length of a formula that is typeset. */
export const LONGEST_FORMULA = 2_000;

interface Formula {
	raw: string;
	tex: string;
	display: boolean;
}

const OPENING = /\$\$|\\[([]/;
const OPENING_LINE = /(?:^|\n) {0,3}(?:\$\$|\\\[)/;

/** The formula at the start of `source`, in `$$…$$`, `\[…\]` or `\(…\)`. A single `$` is a currency sign. */
export function formula(source: string): Formula | null {
	const start = source.slice(0, 2);
	const end = { "$$": "$$", "\\[": "\\]", "\\(": "\\)" }[start];
	if (end === undefined) return null;
	const near = source.slice(2, 2 + LONGEST_FORMULA + end.length);
	const length = near.indexOf(end);
	if (length <= 0) return null;
	const inside = near.slice(0, length);
	// A formula cannot contain a blank line, because it ends the paragraph.
	if (/\n[ \t]*\n/.test(inside) || inside.trim() === "") return null;
	if (start === "$$" && !isFormula(inside, source.charAt(length + 4))) return null;
	return { raw: source.slice(0, length + 4), tex: inside.trim(), display: start !== "\\(" };
}

/** Whether `$$` delimits a formula. It may also be part of prices. */
function isFormula(inside: string, after: string): boolean {
	if (inside.startsWith("$") || /[$\d]/.test(after)) return false;
	const tight = inside.trim() === inside;
	const apart = /^[ \t]*\n/.test(inside) && /\n[ \t]*$/.test(inside);
	return tight || apart || /[\\^_={}+<>]/.test(inside);
}

interface FormulaToken {
	type: string;
	raw: string;
	tex: string;
	display: boolean;
}

/** Inline formulas. `draw` renders one to HTML. */
export function inlineMath(draw: (tex: string, display: boolean, raw: string) => string): TokenizerAndRendererExtension {
	return {
		name: "formula",
		level: "inline",
		start: (source) => found(source.search(OPENING)),
		tokenizer(source) {
			const token = formula(source);
			return token ? { type: "formula", ...token } : undefined;
		},
		renderer: (token) => drawn(token as unknown as FormulaToken, draw),
	};
}

/** Formulas that begin a line. They are blocks, so that a minus at the start of their next line does not begin a list. */
export function blockMath(draw: (tex: string, display: boolean, raw: string) => string): TokenizerAndRendererExtension {
	return {
		name: "formulaBlock",
		level: "block",
		start: (source) => found(source.search(OPENING_LINE)),
		tokenizer(source) {
			const indent = /^ {0,3}/.exec(source)?.[0] ?? "";
			const token = /^(?:\$\$|\\\[)/.test(source.slice(indent.length)) ? formula(source.slice(indent.length)) : null;
			const rest = token ? /^[ \t]*(?:\n|$)/.exec(source.slice(indent.length + token.raw.length)) : null;
			if (!token || !rest) return undefined;
			return { type: "formulaBlock", ...token, raw: indent + token.raw + rest[0] };
		},
		renderer: (token) => `<p>${drawn(token as unknown as FormulaToken, draw)}</p>\n`,
	};
}

function drawn({ tex, display, raw }: FormulaToken, draw: (tex: string, display: boolean, raw: string) => string): string {
	return draw(tex, display, raw.trim());
}

function found(at: number): number | undefined {
	return at < 0 ? undefined : at;
}
