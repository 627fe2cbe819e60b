import DOMPurify from "dompurify";
import { Marked, type TokenizerAndRendererExtension, type Tokens } from "marked";

/** Opening mark to closing mark of quoted dialogue. */
const QUOTES: Record<string, string> = { '"': '"', "“": "”", "„": "“”", "«": "»", "»": "«", "「": "」", "『": "』", "‹": "›" };
const OPENING = new RegExp(`[${Object.keys(QUOTES).join("")}]`);
const TAGS = "a b blockquote br code del em h1 h2 h3 h4 h5 h6 hr i img li ol p pre q s strong sub sup table tbody td th thead tr u ul".split(" ");
const SAFE_PICTURE = /^(data:image\/(png|jpeg|gif|webp);|nook:\/\/localhost\/|http:\/\/nook\.localhost\/)/i;

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
		if (!closing || /[\p{L}\p{N}]$/u.test(tokens.at(-1)?.raw ?? "")) return undefined;
		const inside = quoted(source, closing);
		const raw = source.slice(0, inside.length + 2);
		const end = raw.slice(inside.length + 1);
		return { type: "speech", raw, tokens: [plain(mark), ...this.lexer.inlineTokens(inside), plain(end)] };
	},
	renderer(token) {
		return `<q>${this.parser.parseInline(token.tokens ?? [])}</q>`;
	},
	childTokens: ["tokens"],
};

/** What stands between the marks; up to the end where the closing one is missing. */
function quoted(source: string, closing: string): string {
	const end = [...closing].map((mark) => source.indexOf(mark, 1)).filter((at) => at > 0);
	return source.slice(1, end.length > 0 ? Math.min(...end) : undefined);
}

function plain(text: string): Tokens.Text {
	return { type: "text", raw: text, text, escaped: false };
}

const markdown = new Marked({ gfm: true, breaks: true, async: false });
markdown.use({
	extensions: [speech],
	renderer: {
		// Links lead nowhere: the address is shown, and nothing is fetched or opened.
		link({ href, tokens }: Tokens.Link) {
			return `<a title="${escape(href)}">${this.parser.parseInline(tokens)}</a>`;
		},
		image({ href, text }: Tokens.Image) {
			return SAFE_PICTURE.test(href) ? `<img src="${escape(href)}" alt="${escape(text)}">` : escape(text);
		},
	},
});

DOMPurify.addHook("uponSanitizeAttribute", (_, attribute) => {
	if (attribute.attrName === "src" && !SAFE_PICTURE.test(attribute.attrValue)) attribute.keepAttr = false;
});

function escape(text: string): string {
	return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/**
 * The one way from a model's or card's text to HTML. No link leads anywhere, no picture comes from elsewhere, and no class,
 * style or id of the text's own gets through.
 */
export function render(text: string): string {
	return DOMPurify.sanitize(markdown.parse(text) as string, {
		ALLOWED_TAGS: TAGS,
		ALLOWED_ATTR: ["title", "alt", "src", "start"],
		ALLOW_DATA_ATTR: false,
		ALLOW_ARIA_ATTR: false,
		ADD_URI_SAFE_ATTR: ["title"],
	});
}

/** Where the last block of `text` begins: what stands before it can no longer change as text is added. */
export function lastBlock(text: string): number {
	const blocks = markdown.lexer(text).filter((token) => token.type !== "space");
	const last = blocks.at(-1);
	return last ? text.lastIndexOf(last.raw) : 0;
}
