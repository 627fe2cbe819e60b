const KEY = "inglenook.backgroundStrength";
/** The faintest background is still visible. */
export const [FAINTEST, FULL] = [0.2, 1];

/** How much of a background shows, in all chats. This computer remembers it. */
class BackgroundStrength {
	value = $state(stored());

	set(value: number): void {
		this.value = value;
		localStorage.setItem(KEY, String(value));
	}
}

function stored(): number {
	const value = Number(localStorage.getItem(KEY) ?? FULL);
	return value >= FAINTEST && value <= FULL ? value : FULL;
}

export const backgroundStrength = new BackgroundStrength();
