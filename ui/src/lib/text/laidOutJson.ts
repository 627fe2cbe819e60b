/**
 * Lays out JSON for reading, without parsing it: parsing would round large numbers, drop repeated keys and hide invisible
 * letters. Text that is no JSON keeps its letters in their order.
 */
export function laidOutJson(json: string): string {
	let out = "";
	let depth = 0;
	const newLine = (): string => `\n${"  ".repeat(Math.max(depth, 0))}`;
	for (const [token] of json.matchAll(TOKENS)) {
		switch (token) {
			case "{":
			case "[":
				depth += 1;
				out += token + newLine();
				break;
			case "}":
			case "]":
				depth -= 1;
				// An empty object stays on one line.
				out = /[[{]\s*$/.test(out) ? out.trimEnd() + token : out + newLine() + token;
				break;
			case ",":
				out += token + newLine();
				break;
			case ":":
				out += ": ";
				break;
			default:
				out += /^\s*$/.test(token) ? "" : shownInvisible(token);
		}
	}
	return out;
}

/** Shows each invisible letter as its escape, because the tool gets it too. */
export function shownInvisible(text: string): string {
	return text.replace(INVISIBLE, (letter) => `\\u{${(letter.codePointAt(0) ?? 0).toString(16)}}`);
}

const TOKENS = /"(?:\\.|[^"\\])*"?|[{}[\],:]|\s+|[^\s{}[\],:"]+/gsu;
/** Letters that are not drawn: controls, formats, and letters that look like nothing. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800]/gu;
