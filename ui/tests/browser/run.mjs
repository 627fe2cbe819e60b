// Runs the browser tests and ends with a summary line.
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { run } from "node:test";
import { fileURLToPath } from "node:url";
import { buildScripted } from "./scripted.mjs";

const counts = { passed: 0, failed: 0 };
const folder = fileURLToPath(new URL(".", import.meta.url));
const files = readdirSync(folder).filter((name) => name.endsWith(".test.mjs")).sort().map((name) => join(folder, name));
/** Files that start the engine, which uses all cores for its model, or that measure times. */
const ALONE = ["drafts", "messages", "newcomer", "path", "private"].map((name) => `${name}.test.mjs`);
/** The file that takes longest starts first. */
const FIRST = "accessibility.test.mjs";
// One build for all files.
process.env.INGLENOOK_SCRIPTED_UI = await mkdtemp(join(tmpdir(), "inglenook-mock-"));
await buildScripted(process.env.INGLENOOK_SCRIPTED_UI);

async function runFiles(files, concurrency) {
	const stream = run({ files, concurrency, timeout: 900_000 });
	stream.on("test:pass", ({ name, details }) => {
		counts.passed += 1;
		console.log(`ok    ${name} (${Math.round(details.duration_ms)} ms)`);
	});
	stream.on("test:fail", ({ name, details }) => {
		counts.failed += 1;
		const cause = details.error.cause ?? details.error;
		console.log(`FAIL  ${name}\n      ${String(cause.stack ?? cause).split("\n").slice(0, 14).join("\n      ")}`);
	});
	stream.on("test:stderr", ({ message }) => process.stderr.write(message));
	stream.resume();
	await once(stream, "end");
}

const isAlone = (file) => ALONE.includes(basename(file));
const isFirst = (file) => Number(basename(file) === FIRST);
const together = files.filter((file) => !isAlone(file)).sort((a, b) => isFirst(b) - isFirst(a));
await runFiles(together, availableParallelism());
await runFiles(files.filter(isAlone), 1);
await rm(process.env.INGLENOOK_SCRIPTED_UI, { recursive: true });
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed > 0 || counts.passed === 0 ? 1 : 0;
