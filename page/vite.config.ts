import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

// Files with stable names: the server embeds them with `include_bytes!` and CI compares the bytes.
export default defineConfig({
  plugins: [svelte()],
  base: './',
  build: {
    outDir: '../crates/memoranda-server/src/page/built',
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    sourcemap: false,
    rolldownOptions: {
      output: {
        entryFileNames: 'page.js',
        chunkFileNames: 'places.js',
        assetFileNames: 'page[extname]',
      },
    },
  },
});
