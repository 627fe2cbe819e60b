import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

export default defineConfig({
	plugins: [svelte()],
	clearScreen: false,
	server: { port: 5173, strictPort: true, host: "127.0.0.1" },
	// Fonts and icons stay files: the content security policy allows no `data:` fonts.
	build: { target: "safari16.4", assetsInlineLimit: 0, modulePreload: { polyfill: false }, chunkSizeWarningLimit: 800 },
	resolve: process.env.VITEST ? { conditions: ["browser"] } : undefined,
	test: { environment: "jsdom", include: ["src/**/*.test.ts", "tests/unit/**/*.test.ts"] },
});
