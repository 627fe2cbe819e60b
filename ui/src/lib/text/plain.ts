/** A text's start as one line, without the marks of emphasis, headings and lists. */
export function plainLine(text: string): string {
	return text
		.replace(/[*`]+/g, "")
		.replace(/(^|\n)\s*[#>-]+\s+/g, " ")
		.replace(/\s+/g, " ")
		.trim();
}
