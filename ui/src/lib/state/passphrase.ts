/** The longest passphrase, in characters. The engine has the same limit. */
const LONGEST = 1_024;

export type PassphraseFault = "empty" | "long";

/** Why a text is no passphrase; `null` if it is one. The engine removes blanks at both ends and composes letters (NFC). */
export function passphraseFault(text: string): PassphraseFault | null {
	const counted = text.trim().normalize("NFC");
	if (counted === "") return "empty";
	return [...counted].length > LONGEST ? "long" : null;
}

/** Whether a text begins or ends with a blank, which is not part of the passphrase. */
export function hasOuterBlanks(text: string): boolean {
	return text.trim() !== "" && text.trim() !== text;
}
