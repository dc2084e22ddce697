import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

// axe is a dependency of the demo. Its script runs unchanged in the page.
const AXE = createRequire(
  createRequire(new URL('../../apps/demo-budget/package.json', import.meta.url)).resolve('@axe-core/playwright'),
).resolve('axe-core/axe.min.js');

// Limiting the results to violations saves computing the selectors of passing elements.
const RUN = `axe.run({ resultTypes: ['violations'] })`;

interface Results {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string;
    readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary?: string }[];
  }[];
}

/**
 * Returns the axe violations of impact "serious" or worse in a page, each with its element. The page keeps the script
 * of axe: loading it takes as long as an examination of a small page.
 */
export async function seriousViolations(page: { evaluate(script: string): Promise<unknown> }): Promise<string[]> {
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(readFileSync(AXE, 'utf8'));
  const { violations } = (await page.evaluate(RUN)) as Results;
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${String(target)}: ${failureSummary ?? ''}`),
    );
}
