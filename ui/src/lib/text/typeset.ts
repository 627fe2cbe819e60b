import DOMPurify from "dompurify";
import temml from "temml";

/** Allowed style properties: those that lay out the parts of a formula, without addresses or positioning. */
const STYLE = /^(?:display:\s?block math|(?:padding|padding-left|padding-right|padding-top|padding-bottom|border|border-left|border-right|border-top|border-bottom|math-depth|math-style|color|vertical-align):\s?[#\w. %-]{1,40})$/;
const CLASS = /^(?:tml|wbk|chr|ff)-[\w-]+$/;
/** Maximum size in em that a formula may request. */
const WIDEST = 10;

const purifier = DOMPurify(window);
purifier.addHook("uponSanitizeAttribute", (_, attribute) => {
	if (attribute.attrName === "style") attribute.attrValue = kept(attribute.attrValue, ";", STYLE);
	if (attribute.attrName === "class") attribute.attrValue = kept(attribute.attrValue, " ", CLASS);
	if (/^(?:href|src|xlink:href|id|name|action|mathbackground)$/.test(attribute.attrName)) attribute.keepAttr = false;
});

/** Cache of typeset formulas, because a growing text renders its last block repeatedly. */
const known = new Map<string, string | null>();
const MOST_KNOWN = 256;

/** A formula as MathML, which needs no special font; `null` for invalid LaTeX. */
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
		// Replies often contain invalid LaTeX or formulas that overflow the stack. Their source is shown instead.
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
