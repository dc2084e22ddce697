import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from '../e2e/harness/test.ts';

// Draws the PNG icons from the SVG: `playwright test --config apps/demo-budget/playwright.screenshots.config.ts icons`

const publicFolder = new URL('../public/', import.meta.url);

// A maskable icon fills its square without rounded corners, and keeps its motif within the inner 80 %. Apple rounds the
// corners itself.
const icons = [
  { file: 'icon-192.png', size: 192, isFull: false },
  { file: 'icon-512.png', size: 512, isFull: false },
  { file: 'icon-maskable-512.png', size: 512, isFull: true },
  { file: 'apple-touch-icon.png', size: 180, isFull: true },
];

test('draws the icons', async ({ newPerson }) => {
  const { page } = await newPerson();
  const svg = readFileSync(new URL('icon.svg', publicFolder), 'utf8');
  for (const { file, size, isFull } of icons) {
    await page.setViewportSize({ width: size, height: size });
    const drawing = isFull ? svg.replace('rx="8"', '').replace('viewBox="0 0 32 32"', 'viewBox="-2 -2 36 36"') : svg;
    await page.setContent(
      `<style>*{margin:0}svg{display:block;width:${size}px;height:${size}px${isFull ? ';background:#0f6b6b' : ''}}</style>${drawing}`,
    );
    await page.screenshot({ path: fileURLToPath(new URL(file, publicFolder)), omitBackground: true });
  }
});
