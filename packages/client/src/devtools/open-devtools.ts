import type { Client } from '../client.ts';
import { changelogPanel } from './changelog-panel.ts';
import { consolePanel } from './console-panel.ts';
import { button, element } from './dom.ts';
import { livePanel } from './live-panel.ts';
import type { Panel } from './panel.ts';
import { STYLES } from './styles.ts';
import { tablesPanel } from './tables-panel.ts';
import { tabsPanel } from './tabs-panel.ts';
import { timelinePanel } from './timeline-panel.ts';

/** Short enough to follow changes, long enough to keep the load low. */
const REDRAW_MS = 1_000;

export interface Devtools {
  /** Removes the panel from the page. */
  close(): void;
}

/**
 * Opens a panel at the bottom of the page that shows the contents of a client: tables and a SQL console, changelog and
 * outbox, live queries and their cost, tabs, and the history of sync. It shows row values, so load it in development
 * only:
 *
 * ```ts
 * if (import.meta.env.DEV) (await import('@rockpool/client/devtools')).openDevtools(client);
 * ```
 */
export function openDevtools(client: Client): Devtools {
  const panels = [tablesPanel, consolePanel, changelogPanel, livePanel, tabsPanel, timelinePanel].map((make) =>
    make(client),
  );
  const host = element('div', '');
  const root = host.attachShadow({ mode: 'open' });
  const body = element('main', '');
  let shown: Panel | null = null;

  const draw = async (panel: Panel): Promise<void> => {
    // The panel is rendered detached and then inserted, so that it does not reappear if another panel was opened
    // meanwhile.
    const page = element('div', '');
    try {
      await panel.draw(page);
    } catch (thrown) {
      page.replaceChildren(element('p', 'error', String(thrown)));
    }
    if (shown === panel) body.replaceChildren(page);
  };
  const choices = panels.map((panel) => button(panel.title, () => show(panel)));
  function show(panel: Panel): void {
    shown = panel;
    choices.forEach((choice, index) => choice.setAttribute('aria-pressed', String(panels[index] === panel)));
    void draw(panel);
  }

  let isDrawing = false;
  const redraw = async (): Promise<void> => {
    // A panel whose queries take longer than the interval would delay the slow queries of the app more and more.
    if (isDrawing || shown?.isLive !== true) return;
    isDrawing = true;
    await draw(shown);
    isDrawing = false;
  };
  const timer = setInterval(() => void redraw(), REDRAW_MS);
  const close = (): void => {
    clearInterval(timer);
    shown = null;
    for (const panel of panels) panel.close?.();
    host.remove();
  };

  root.append(
    element('style', '', STYLES),
    element(
      'div',
      'devtools',
      element('header', '', ...choices, element('span', '', client.name), button('Close', close)),
      body,
    ),
  );
  document.body.append(host);
  const [first] = panels;
  if (first !== undefined) show(first);
  return { close };
}
