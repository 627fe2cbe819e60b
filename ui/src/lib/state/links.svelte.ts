/** Links in messages. A link opens only after the user has seen its whole address. */
export class Links {
	/** The address in the confirmation dialog. */
	asked = $state<string | null>(null);

	constructor(private readonly open: (address: string) => Promise<unknown>) {}

	ask = (address: string): void => {
		this.asked = address;
	};

	close = (): void => {
		this.asked = null;
	};

	follow = (): void => {
		const address = this.asked;
		this.asked = null;
		if (address !== null) void this.open(address);
	};
}
