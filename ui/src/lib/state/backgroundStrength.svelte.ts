const KEY = "inglenook.backgroundStrength";
/** In percent. The faintest background is still visible. */
export const [FAINTEST, FULL] = [20, 100];

/** How much of a background shows, in all chats. This computer remembers it. */
class BackgroundStrength {
	percent = $state(stored());

	set(percent: number): void {
		this.percent = percent;
		localStorage.setItem(KEY, String(percent));
	}
}

function stored(): number {
	const percent = Number(localStorage.getItem(KEY) ?? FULL);
	return percent >= FAINTEST && percent <= FULL ? percent : FULL;
}

export const backgroundStrength = new BackgroundStrength();
