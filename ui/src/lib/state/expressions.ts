/** Longest label, in characters, and the maximum number of labels. */
const [LONGEST_LABEL, MOST_LABELS] = [40, 60];

/** The emotion that the name of a picture stands for: `joy`, `Joy-2` and `joy (2)` are all `joy`. The engine has the same rule. */
export function emotionOf(name: string): string {
	const plain = name.trim().toLowerCase();
	return plain.replace(/\)+$/, "").replace(/\d+$/, "").replace(/[-_. (]+$/, "") || plain;
}

/** The labels of a setting: in lower case, each once, beginning with neutral. The engine has the same rule. */
export function labelsOf(text: string): string[] {
	const named = text.split(/[,;\n]/).map((label) => label.trim().toLowerCase());
	return [...new Set(["neutral", ...named.filter((label) => label !== "" && [...label].length <= LONGEST_LABEL)])].slice(0, MOST_LABELS);
}
