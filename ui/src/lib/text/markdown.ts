import { Marked, type TokenizerAndRendererExtension, type Tokens } from "marked";
import { blockMath, inlineMath } from "./math";

/** Renderers that a message needs besides Markdown. */
export interface Extras {
	/** A formula as MathML, or `null`. */
	formula(tex: string, display: boolean): string | null;
	/** Code as HTML with colours, or `null`. */
	code(code: string, language: string): string | null;
	/** The label of the button that copies a code block. */
	copy(): string;
	/** The help topic that a relative link leads to, or `null`. Only help pages have such links. */
	topic?(href: string): string | null;
}

/** Our own HTML, which bypasses the sanitizer. A placeholder text replaces it until the rest is sanitized. */
export interface Pieces {
	/** Stores `html` and returns its placeholder. */
	keep(html: string): string;
}

/** Opening mark to closing mark of quoted dialogue. */
const QUOTES: Record<string, string> = { '"': '"', "“": "”", "„": "“”", "«": "»", "»": "«", "「": "」", "『": "』", "‹": "›" };
const OPENING = new RegExp(`[${Object.keys(QUOTES).join("")}]`);
/** Maximum depth of nested quotes that are marked. */
const DEEPEST_QUOTE = 4;
/** Maximum length of the language label of a code block. */
const LONGEST_LABEL = 24;

/** Shows formulas and code as plain source. */
export const PLAIN_EXTRAS: Extras = { formula: () => null, code: () => null, copy: () => "Copy" };

let pieces: Pieces = { keep: () => "" };
let extras: Extras = PLAIN_EXTRAS;
let quoteDepth = 0;

/** Quoted dialogue. An open quote extends to the end of the paragraph, which is common while a reply streams. */
const speech: TokenizerAndRendererExtension = {
	name: "speech",
	level: "inline",
	start: (source) => {
		const at = source.search(OPENING);
		return at < 0 ? undefined : at;
	},
	tokenizer(source, tokens) {
		const mark = source.charAt(0);
		const closing = QUOTES[mark];
		// A mark right after a letter or digit is an inch sign, an apostrophe or a closing quote.
		if (!closing || quoteDepth >= DEEPEST_QUOTE || /[\p{L}\p{N}]$/u.test(tokens.at(-1)?.raw ?? "")) return undefined;
		const inside = quoted(source, closing);
		const raw = source.slice(0, inside.length + 2);
		const end = raw.slice(inside.length + 1);
		quoteDepth += 1;
		try {
			return { type: "speech", raw, tokens: [plain(mark), ...this.lexer.inlineTokens(inside), plain(end)] };
		} finally {
			quoteDepth -= 1;
		}
	},
	renderer(token) {
		return `<q>${this.parser.parseInline(token.tokens ?? [])}</q>`;
	},
	childTokens: ["tokens"],
};

/** The text between the marks, or up to the end if the closing mark is missing. */
function quoted(source: string, closing: string): string {
	const end = [...closing].map((mark) => source.indexOf(mark, 1)).filter((at) => at > 0);
	return source.slice(1, end.length > 0 ? Math.min(...end) : undefined);
}

function plain(text: string): Tokens.Text {
	return { type: "text", raw: text, text, escaped: false };
}

const marked = new Marked({ gfm: true, breaks: true, async: false });
marked.use({
	extensions: [speech, inlineMath(drawFormula), blockMath(drawFormula)],
	tokenizer: {
		// Disabled: a link definition would vanish from the text, and could not affect parts that are rendered separately.
		def: () => undefined,
	},
	renderer: {
		link({ href, tokens }: Tokens.Link) {
			return `<a href="${escape(href)}">${this.parser.parseInline(tokens)}</a>`;
		},
		image({ href, text }: Tokens.Image) {
			return `<img src="${escape(href)}" alt="${escape(text)}">`;
		},
		code({ text, lang }: Tokens.Code) {
			return `<pre>${pieces.keep(figure(text, lang ?? ""))}</pre>\n`;
		},
		list({ ordered, items }: Tokens.List) {
			let before: number | null = null;
			const rows = items.map((item) => {
				const own = ordered ? Number(/^\s*(\d{1,9})/.exec(item.raw)?.[1] ?? Number.NaN) : Number.NaN;
				// "1. 1. 1." numbers consecutively, as in CommonMark. Any other number is intended.
				const number: number = before !== null && (Number.isNaN(own) || own === 1) ? before + 1 : own;
				before = number;
				const value = Number.isNaN(number) ? "" : ` value="${number}"`;
				return `<li${value}>${item.task ? task(item.checked ?? false) : ""}${this.parser.parse(item.tokens)}</li>\n`;
			});
			const tag = ordered ? "ol" : "ul";
			return `<${tag}>\n${rows.join("")}</${tag}>\n`;
		},
		checkbox: () => "",
	},
});

/** Converts Markdown to HTML that is not sanitized yet. */
export function toHtml(text: string, keep: Pieces, more: Extras): string {
	[pieces, extras, quoteDepth] = [keep, more, 0];
	return marked.parse(text) as string;
}

function drawFormula(tex: string, display: boolean, raw: string): string {
	const math = extras.formula(tex, display);
	return math === null ? `<code dir="ltr">${escape(raw)}</code>` : pieces.keep(`<span dir="ltr" class="formula${display ? " display" : ""}">${math}</span>`);
}

function task(done: boolean): string {
	return pieces.keep(`<input type="checkbox" disabled${done ? " checked" : ""}>`);
}

/** A code block with its language and a copy button. */
function figure(code: string, info: string): string {
	const label = (/^[^\s{:,]{1,99}/.exec(info)?.[0] ?? "").slice(0, LONGEST_LABEL);
	const html = extras.code(code, label) ?? escape(code);
	return `<figure class="code" dir="ltr"><figcaption><span>${escape(label)}</span><button type="button" data-copy>${escape(extras.copy())}</button></figcaption><pre tabindex="0"><code>${html}\n</code></pre></figure>`;
}

export function escape(text: string): string {
	return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
