import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

/** A Chromium of its own, with a fresh profile and no traffic of its own. */
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
