export async function press(selector: string): Promise<void> {
	await until(() => document.querySelector(selector) !== null);
	document.querySelector<HTMLElement>(selector)?.click();
}

export async function until(condition: () => boolean): Promise<void> {
	while (!condition()) await new Promise((resolve) => requestAnimationFrame(resolve));
}
