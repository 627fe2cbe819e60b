import { Marked, type TokenizerAndRendererExtension, type Tokens } from "marked";
import { blockMath, inlineMath } from "./math";

/** What a message needs besides Markdown. */
export interface Extras {
	/** A formula as MathML, or `null`. */
	formula(tex: string, display: boolean): string | null;
	/** Code as HTML with colours, or `null`. */
	code(code: string, language: string): string | null;
	/** The words on the button that copies a block of code. */
	copy(): string;
}

/** A piece of HTML of our own, which never passes the sanitizer; a text stands for it until then. */
export interface Pieces {
	/** Keeps `html` and returns the text that stands for it. */
	keep(html: string): string;
}

/** Opening mark to closing mark of quoted dialogue. */
const QUOTES: Record<string, string> = { '"': '"', "“": "”", "„": "“”", "«": "»", "»": "«", "「": "」", "『": "』", "‹": "›" };
const OPENING = new RegExp(`[${Object.keys(QUOTES).join("")}]`);
/** Quotes within quotes are marked up to this depth. */
const DEEPEST_QUOTE = 4;
/** What follows the language of a block of code is for the tools that wrote it. */
const LONGEST_LABEL = 24;

/** Formulas and code as they were written. */
export const PLAIN_EXTRAS: Extras = { formula: () => null, code: () => null, copy: () => "Copy" };

let pieces: Pieces = { keep: () => "" };
let extras: Extras = PLAIN_EXTRAS;
let quoteDepth = 0;

/** Quoted dialogue. A quote left open reaches to the paragraph's end, as it does while a reply streams. */
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
		// A mark right after a letter or digit is an inch, an apostrophe or the end of a quote.
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

/** The text between the marks; up to the end where the closing one is missing. */
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
		// A definition of a link would vanish from the text, and reach over parts that are rendered by themselves.
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
				// "1. 1. 1." counts on, as everywhere; any other number is meant.
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

/** Markdown as HTML that has not been sanitized. */
export function toHtml(text: string, keep: Pieces, more: Extras): string {
	[pieces, extras, quoteDepth] = [keep, more, 0];
	return marked.parse(text) as string;
}

function drawFormula(tex: string, display: boolean, raw: string): string {
	const math = extras.formula(tex, display);
	return math === null ? `<code>${escape(raw)}</code>` : pieces.keep(`<span class="formula${display ? " display" : ""}">${math}</span>`);
}

function task(done: boolean): string {
	return pieces.keep(`<input type="checkbox" disabled${done ? " checked" : ""}>`);
}

/** A block of code with its language and a button that copies it. */
function figure(code: string, info: string): string {
	const label = (/^[^\s{:,]{1,99}/.exec(info)?.[0] ?? "").slice(0, LONGEST_LABEL);
	const html = extras.code(code, label) ?? escape(code);
	return `<figure class="code"><figcaption><span>${escape(label)}</span><button type="button" data-copy>${escape(extras.copy())}</button></figcaption><pre tabindex="0"><code>${html}\n</code></pre></figure>`;
}

export function escape(text: string): string {
	return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
