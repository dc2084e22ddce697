import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { deviceName } from './budget/device.ts';
import { rememberNothing, withDeviceItems } from './budget/device-items.ts';
import { currentBudget, type KnownBudget } from './budget/known-budgets.ts';
import { openBudget, type Arrival } from './budget/open-budget.ts';
import { beginRole } from './budget/role.ts';
import { keepAppFiles } from './offline/app-update.ts';
import { JoinView } from './share/join-view.tsx';
import { invitationOfHash } from './share/members.ts';
import { App } from './shell/app.tsx';
import { keepPageOnDrop } from './shell/keep-page-on-drop.ts';
import { hashOf, placeOfHash } from './shell/navigation.ts';
import { Opening, Unopened } from './shell/unopened.tsx';
import './styles/tokens.css';
import './styles/base.css';
import './styles/layout.css';
import './styles/tables.css';
import './shell/keys-help.css';
import './accounts/accounts.css';
import './entries/entries.css';
import './entries/ledger-table.css';
import './entries/entry-form.css';
import './entries/entry-status.css';
import './entries/entry-note.css';
import './entries/entry-details.css';
import './entries/filter-bar.css';
import './entries/selection-bar.css';
import './splits/splits.css';
import './envelopes/envelopes.css';
import './goals/goals.css';
import './import/import.css';
import './export/export.css';
import './reconcile/reconcile.css';
import './reports/chart/chart.css';
import './reports/chart/figure-table.css';
import './reports/spending/category-ranking.css';
import './reports/net-worth/net-worth.css';
import './reports/entries/reported-entries.css';
import './reports/reports.css';
import './rules/rules.css';
import './schedules/schedules.css';
import './categories/categories.css';
import './notes/notes.css';
import './people/people.css';
import './sync/sync.css';
import './share/share.css';
import './how/how.css';

const element = document.getElementById('root');
if (element === null) throw new Error('index.html has no element with the id root');
const root = createRoot(element);

/**
 * The budget to open. It is kept between attempts, because a budget that was created here and never opened is neither
 * in the address nor on a server.
 */
let chosen: { readonly budget: KnownBudget; readonly device: string } | null = null;

interface StartOptions {
  /** The browser stores nothing for this page, and the user continues anyway. */
  readonly keepNothing: boolean;
  /** The user has just joined the budget, and waits for it. */
  readonly isFirstVisit?: boolean;
}

async function start({ keepNothing, isFirstVisit = false }: StartOptions): Promise<void> {
  const code = invitationOfHash(location.hash);
  if (code !== null) {
    const onJoined = (budget: KnownBudget): void => {
      history.replaceState(null, '', hashOf(budget));
      open({ keepNothing, isFirstVisit: true });
    };
    root.render(<JoinView code={code} onJoined={onJoined} />);
    return;
  }
  root.render(<Opening arrival={null} isFirstVisit={isFirstVisit} />);
  if (keepNothing) rememberNothing();
  chosen ??= await withDeviceItems((items) => ({
    budget: currentBudget(location.hash, items),
    device: deviceName(items),
  }));
  const { budget, device } = chosen;
  beginRole(budget);
  history.replaceState(null, '', hashOf(budget, placeOfHash(location.hash)));
  // If the address changes to another budget (by a pasted share link or the back button), the page reloads: one page
  // has one database.
  addEventListener('hashchange', () => {
    if (!location.hash.includes(budget.databaseId)) location.reload();
  });
  const signedBy = budget.membership?.principal ?? device;
  // Once the budget is open, a full resync downloads in the background, without this screen.
  let isOpen = false;
  const onArrival = (arrival: Arrival): void => {
    if (!isOpen) root.render(<Opening arrival={arrival} isFirstVisit={isFirstVisit} />);
  };
  const client = await openBudget({
    budget,
    device: signedBy,
    persistence: keepNothing ? 'memory' : 'durable',
    onArrival,
  });
  isOpen = true;
  // Exposed for experiments: `await rockpool.query('SELECT * FROM entries LIMIT 5')` in the console.
  Object.assign(globalThis, { rockpool: client });
  if (import.meta.env.PROD) keepAppFiles().catch(reportError);
  root.render(
    <StrictMode>
      <App client={client} budget={budget} device={signedBy} />
    </StrictMode>,
  );
}

function open(options: StartOptions): void {
  start(options).catch((error: unknown) =>
    root.render(<Unopened error={error} onKeepNothing={() => open({ keepNothing: true })} />),
  );
}

keepPageOnDrop();
open({ keepNothing: false });
