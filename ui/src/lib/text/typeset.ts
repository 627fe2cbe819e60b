import DOMPurify from "dompurify";
import temml from "temml";

/** Of what LaTeX can ask for, the properties that place a formula's own parts; no address and no position. */
const STYLE = /^(?:display:\s?block math|(?:padding|padding-left|padding-right|padding-top|padding-bottom|border|border-left|border-right|border-top|border-bottom|math-depth|math-style|color|vertical-align):\s?[#\w. %-]{1,40})$/;
const CLASS = /^(?:tml|wbk|chr|ff)-[\w-]+$/;
/** The largest size in em that a formula may ask for. */
const WIDEST = 10;

const purifier = DOMPurify(window);
purifier.addHook("uponSanitizeAttribute", (_, attribute) => {
	if (attribute.attrName === "style") attribute.attrValue = kept(attribute.attrValue, ";", STYLE);
	if (attribute.attrName === "class") attribute.attrValue = kept(attribute.attrValue, " ", CLASS);
	if (/^(?:href|src|xlink:href|id|name|action|mathbackground)$/.test(attribute.attrName)) attribute.keepAttr = false;
});

/** A text that grows draws its last block again and again, and repeats its formulas. */
const known = new Map<string, string | null>();
const MOST_KNOWN = 256;

/** A formula as MathML, which needs no font of its own; `null` for one that LaTeX does not understand. */
export function typeset(tex: string, display: boolean): string | null {
	const key = `${display} ${tex}`;
	const before = known.get(key);
	if (before !== undefined) return before;
	if (known.size >= MOST_KNOWN) known.clear();
	const math = fresh(tex, display);
	known.set(key, math);
	return math;
}

function fresh(tex: string, display: boolean): string | null {
	try {
		const options = { displayMode: display, throwOnError: true, trust: false, strict: false, maxExpand: 200, maxSize: [WIDEST, WIDEST] as [number, number] };
		const math = purifier.sanitize(temml.renderToString(tex, options), { USE_PROFILES: { mathMl: true }, ADD_TAGS: ["menclose"], ADD_ATTR: ["class", "style"], ALLOW_DATA_ATTR: false, ALLOW_ARIA_ATTR: false });
		return math.startsWith("<math") ? math : null;
	} catch {
		// Wrong LaTeX is ordinary in a model's reply, and so is a formula nested beyond the stack: both are shown as written.
		return null;
	}
}

function kept(value: string, separator: string, allowed: RegExp): string {
	return value
		.split(separator)
		.map((one) => one.trim())
		.filter((one) => allowed.test(one))
		.join(separator);
}
