/** Schemes of addresses that the system may open. */
const SCHEMES = new Set(["http:", "https:", "mailto:"]);
const LONGEST = 2_048;

/** The normalised address, with a look-alike host in Punycode; `null` for an address that is never opened. */
export function openable(href: string): string | null {
	if (href.length > LONGEST) return null;
	try {
		const url = new URL(href);
		return SCHEMES.has(url.protocol) ? url.href : null;
	} catch {
		return null;
	}
}
