/** Addresses that the system may be asked to open. */
const SCHEMES = new Set(["http:", "https:", "mailto:"]);
const LONGEST = 2_048;

/** The address as it would be opened, with a host that looks like another one spelled out; `null` for one that never is. */
export function openable(href: string): string | null {
	if (href.length > LONGEST) return null;
	try {
		const url = new URL(href);
		return SCHEMES.has(url.protocol) ? url.href : null;
	} catch {
		return null;
	}
}
