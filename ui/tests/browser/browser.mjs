import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

/** Launches a separate Chromium with a fresh profile and without background traffic. */
export async function launch(options = {}) {
	const profile = await mkdtemp(join(tmpdir(), "inglenook-browser-"));
	return chromium.launchPersistentContext(profile, {
		executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
		headless: true,
		args: FLAGS,
		viewport: { width: 1440, height: 900 },
		...options,
	});
}
