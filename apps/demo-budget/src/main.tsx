import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { deviceName } from './budget/device.ts';
import { withDeviceItems } from './budget/device-items.ts';
import { currentBudget, type KnownBudget } from './budget/known-budgets.ts';
import { openBudget } from './budget/open-budget.ts';
import { beginRole } from './budget/role.ts';
import { keepAppFiles } from './offline/app-update.ts';
import { JoinView } from './share/join-view.tsx';
import { invitationOfHash } from './share/members.ts';
import { App } from './shell/app.tsx';
import { errorSentence } from './shell/error-sentence.ts';
import { hashOf, placeOfHash } from './shell/navigation.ts';
import './styles/tokens.css';
import './styles/base.css';
import './styles/layout.css';
import './styles/tables.css';
import './accounts/accounts.css';
import './entries/entries.css';
import './envelopes/envelopes.css';
import './goals/goals.css';
import './import/import.css';
import './export/export.css';
import './reconcile/reconcile.css';
import './reports/reports.css';
import './rules/rules.css';
import './schedules/schedules.css';
import './categories/categories.css';
import './notes/notes.css';
import './people/people.css';
import './sync/sync.css';
import './share/share.css';

const element = document.getElementById('root');
if (element === null) throw new Error('index.html has no element with the id root');
const root = createRoot(element);

async function start(): Promise<void> {
  const code = invitationOfHash(location.hash);
  if (code !== null) {
    // A whole new start: one page, one database.
    const onJoined = (budget: KnownBudget): void => {
      history.replaceState(null, '', hashOf(budget));
      location.reload();
    };
    root.render(<JoinView code={code} onJoined={onJoined} />);
    return;
  }
  const { budget, device } = await withDeviceItems((items) => ({ budget: currentBudget(location.hash, items), device: deviceName(items) }));
  beginRole(budget);
  history.replaceState(null, '', hashOf(budget, placeOfHash(location.hash)));
  // Another budget in the address (a pasted share link, a press on "back") is opened afresh: one page, one database.
  addEventListener('hashchange', () => {
    if (!location.hash.includes(budget.databaseId)) location.reload();
  });
  const signedBy = budget.membership?.principal ?? device;
  const client = await openBudget(budget, signedBy);
  // For the curious: `await rockpool.query('SELECT * FROM entries LIMIT 5')` in the console.
  Object.assign(globalThis, { rockpool: client });
  if (import.meta.env.PROD) keepAppFiles().catch(reportError);
  root.render(
    <StrictMode>
      <App client={client} budget={budget} device={signedBy} />
    </StrictMode>,
  );
}

start().catch((error: unknown) => {
  root.render(
    <main className="unopened">
      <h1>The budget cannot be opened</h1>
      <p role="alert">{errorSentence(error)}</p>
      <button type="button" onClick={() => location.reload()}>
        Try again
      </button>
    </main>,
  );
});
