/** Code points of a line in a list. More would not be visible, and a screen reader would read all of them. */
const LINE = 120;

/** A text's start as one line, without the marks of emphasis, headings and lists. */
export function plainLine(text: string): string {
	const line = text
		.replace(/[*`]+/g, "")
		.replace(/(^|\n)\s*[#>-]+\s+/g, " ")
		.replace(/\s+/g, " ")
		.trim();
	const points = [...line];
	return points.length > LINE ? `${points.slice(0, LINE).join("").trimEnd()}…` : line;
}
