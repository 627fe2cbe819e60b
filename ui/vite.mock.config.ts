import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";
import { fileURLToPath } from "node:url";

const ui = fileURLToPath(new URL(".", import.meta.url));

/** The same UI on a scripted engine, for screenshots of every state. Never part of the product. */
export default defineConfig({
	root: `${ui}/tests/mock`,
	plugins: [svelte({ configFile: `${ui}/svelte.config.js` })],
	server: { port: 5174, strictPort: true, host: "127.0.0.1", fs: { allow: [ui] } },
	preview: { port: 5174, strictPort: true, host: "127.0.0.1" },
	build: { outDir: `${ui}/test-results/mock`, emptyOutDir: true, target: "safari16.4", assetsInlineLimit: 0 },
});
