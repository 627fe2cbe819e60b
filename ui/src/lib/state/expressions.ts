/** The engine's default emotions. */
export const EMOTIONS = ["neutral", "joy", "sadness", "anger", "fear", "disgust", "surprise"] as const;

/** The emotion that the name of a picture stands for: `joy`, `Joy-2` and `joy (2)` are all `joy`. The engine has the same rule. */
export function emotionOf(name: string): string {
	const plain = name.trim().toLowerCase();
	return plain.replace(/\)+$/, "").replace(/\d+$/, "").replace(/[-_. (]+$/, "") || plain;
}
