import type { PageValues } from "./pageValues";

const KEY = "inglenook.backgroundStrength";
/** In percent. The faintest background is still visible. */
export const [FAINTEST, FULL] = [20, 100];

/** How much of a background shows, in all chats. */
export class BackgroundStrength {
	percent = $state(FULL);

	constructor(private readonly values: PageValues) {
		this.percent = stored(values);
	}

	set(percent: number): void {
		this.percent = percent;
		this.values.set(KEY, String(percent));
	}
}

function stored(values: PageValues): number {
	const percent = Number(values.get(KEY) ?? FULL);
	return percent >= FAINTEST && percent <= FULL ? percent : FULL;
}
