// The admin page. It shows the answers of the admin API and sends what the operator chooses. It inserts values of a
// database only as text, never as markup.

const KEY = 'rockpool-admin-token';
const ROLES = ['owner', 'editor', 'viewer'];
const API = document.body.dataset.api;
const PAGE_SIZE = 100;

/** @param {string} id */
const $ = (id) => /** @type {any} */ (document.getElementById(id));

/** A refused or failed request, with the sentence that the page shows. */
class Failure extends Error {
  constructor(message, status = 0) {
    super(message);
    this.status = status;
  }
}

let token = sessionStorage.getItem(KEY) ?? '';
// The number of the latest view, so that a late answer does not replace a newer one.
let view = 0;
let listed = [];
// The text that the ids of the list contain. The field may have another one, which is not searched yet.
let searched = '';
// The database of the details.
let detailed = '';

async function ask(method, path, body) {
  let response;
  try {
    response = await fetch(`${API}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(body !== undefined && { body: body instanceof Blob ? body : JSON.stringify(body) }),
    });
  } catch {
    throw new Failure('The server is not responding. Check the connection, then try again.');
  }
  if (response.ok) return response;
  if (response.status === 401) throw new Failure('The server rejected this token.', 401);
  const error = await response.json().catch(() => null);
  throw new Failure(
    isError(error) ? sentenceOf(error) : `The server responded with status ${response.status}.`,
    response.status,
  );
}

/** A proxy may answer in place of the server. */
const isError = (error) =>
  typeof error?.message === 'string' && typeof error.fields === 'object' && error.fields !== null;

/** Reads the body of an answer. The connection may end before all of it has arrived. */
async function read(body) {
  try {
    return await body;
  } catch {
    throw new Failure('The answer is incomplete, or not one of the server. Try again.');
  }
}

/** The text of an error, without the fields in brackets. */
function sentenceOf({ message, fields }) {
  if (typeof fields.problem === 'string') return fields.problem;
  const [first] = Object.keys(fields);
  return first === undefined ? message : message.split(` (${first}=`)[0];
}

const json = async (method, path, body) => read((await ask(method, path, body)).json());
const database = (id) => `/databases/${encodeURIComponent(id)}`;

/** The database that the address names, or an empty text. */
function named() {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return '';
  }
}

function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties))
    if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== null));
  return made;
}

function button(text, onClick, className = '') {
  const made = element('button', { type: 'button', className }, text);
  made.addEventListener('click', () => run(made, onClick));
  return made;
}

/** `columns` are `[name, cell of a row, class]`. The roles keep it a table where the styles show its rows as cards. */
function table(labelledBy, columns, rows, empty) {
  if (rows.length === 0) return element('p', { className: 'hint' }, empty);
  const head = columns.map(([name, , className = '']) =>
    element('th', { scope: 'col', role: 'columnheader', className }, name),
  );
  const body = rows.map((row) =>
    element(
      'tr',
      { role: 'row' },
      ...columns.map(([name, cell, className = '']) =>
        element('td', { role: 'cell', className, 'data-name': name }, cell(row)),
      ),
    ),
  );
  return element(
    'table',
    { role: 'table', 'aria-labelledby': labelledBy },
    element('thead', { role: 'rowgroup' }, element('tr', { role: 'row' }, ...head)),
    element('tbody', { role: 'rowgroup' }, ...body),
  );
}

const count = new Intl.NumberFormat();
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const number = (value) => (value === null ? 'unknown' : count.format(value));
const second = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const time = (ms, none) => (ms === null ? none : moment.format(ms));
const plural = (value, one, many) => `${count.format(value)} ${value === 1 ? one : many}`;

function size(bytes) {
  if (bytes === null) return 'unknown';
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'];
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(bytes, 1)) / 3)));
  const format = { style: 'unit', unit: units[power], unitDisplay: 'short', maximumFractionDigits: power < 2 ? 0 : 1 };
  return new Intl.NumberFormat(undefined, format).format(bytes / 1000 ** power);
}

const STATES = {
  online: 'Online',
  damaged: 'Damaged',
  draining: 'Drained',
  closing: 'Closing',
  creating: 'Being created',
  deleting: 'Being deleted',
  importing: 'Being imported',
  replacing: 'Being replaced',
};
const state = (name) => element('span', { className: name === 'online' ? '' : 'bad' }, STATES[name] ?? name);

function say(text) {
  $('alert').hidden = true;
  $('status').textContent = text;
  $('status').hidden = text === '';
}

function complain(error) {
  $('status').hidden = true;
  $('alert').textContent = error instanceof Failure ? error.message : `This page failed: ${String(error)}`;
  $('alert').hidden = false;
  if (error instanceof Failure && error.status === 401) signOut();
}

/** Runs the action of a control, one at a time, and shows its failure. */
async function run(control, work) {
  if (control.disabled) return;
  control.disabled = true;
  try {
    await work();
  } catch (error) {
    complain(error);
  } finally {
    control.disabled = false;
  }
}

function show(name) {
  for (const section of ['sign-in', 'list', 'details']) $(section).hidden = section !== name;
  $('sign-out').hidden = name === 'sign-in';
}

function signOut() {
  token = '';
  sessionStorage.removeItem(KEY);
  view++;
  listed = [];
  searched = '';
  for (const id of ['databases', 'backups', 'devices', 'members', 'invitations', 'tables', 'facts', 'actions'])
    $(id).replaceChildren();
  $('server').textContent = '';
  show('sign-in');
  $('token').value = '';
  $('token').focus();
}

/** Resolves with what the operator has chosen, or with null if the operator cancels. */
function confirm({ title, text, action, id = '', needsFile = false, needsPast = false, needsNewId = needsPast }) {
  const dialog = $('confirm');
  $('confirm-title').textContent = title;
  $('confirm-text').textContent = text;
  $('do').textContent = action;
  $('confirm-id-field').hidden = id === '';
  $('confirm-file-field').hidden = !needsFile;
  $('past-fields').hidden = !needsNewId;
  $('past-time-field').hidden = !needsPast;
  $('confirm-id').value = '';
  $('confirm-file').value = '';
  $('confirm-id').required = id !== '';
  $('confirm-file').required = needsFile;
  for (const [field, isNeeded] of [
    ['past-time', needsPast],
    ['past-id', needsNewId],
  ]) {
    $(field).value = '';
    $(field).required = isNeeded;
  }
  const check = () => $('confirm-id').setCustomValidity($('confirm-id').value === id ? '' : `Type ${id}`);
  $('confirm-id').oninput = check;
  check();
  dialog.returnValue = '';
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.onclose = () =>
      resolve(
        dialog.returnValue === 'do'
          ? {
              file: $('confirm-file').files[0] ?? null,
              past: { time: new Date($('past-time').value), id: $('past-id').value },
            }
          : null,
      );
  });
}

async function loadList(after = '') {
  const own = ++view;
  const contains = after === '' ? $('contains').value : searched;
  const query = new URLSearchParams({ limit: String(PAGE_SIZE), contains, after });
  const page = await json('GET', `/databases?${query}`);
  if (own !== view) return;
  searched = contains;
  listed = after === '' ? page.databases : [...listed, ...page.databases];
  const { version, store, threads } = page.server;
  $('server').textContent =
    `Version ${version}, ${store === 'files' ? 'files' : 'PostgreSQL'}, ${plural(threads, 'thread', 'threads')}`;
  $('count').textContent =
    listed.length < page.total
      ? `${count.format(listed.length)} of ${plural(page.total, 'database', 'databases')}`
      : plural(page.total, 'database', 'databases');
  $('databases').replaceChildren(
    table(
      'list-title',
      [
        ['Id', (row) => element('a', { href: `#${row.id}` }, row.id)],
        ['State', (row) => state(row.state)],
        ['Size', (row) => size(row.sizeBytes), 'number'],
        ['Sessions', (row) => number(row.sessions), 'number'],
        ['Log position', (row) => number(row.watermark), 'number'],
        ['Lag', (row) => (row.lag === null ? 'none' : number(row.lag)), 'number'],
        ['Members', (row) => number(row.members), 'number'],
        [
          'Blocked devices',
          (row) => element('span', { className: row.blockedDevices > 0 ? 'bad' : '' }, number(row.blockedDevices)),
          'number',
        ],
        ['Last write', (row) => time(row.lastWriteMs, 'never')],
      ],
      listed,
      contains === '' ? 'There is no database yet.' : 'No id contains this text.',
    ),
  );
  $('more').hidden = page.next === null;
  $('more').onclick = () => run($('more'), () => loadList(page.next));
  show('list');
}

async function loadDetails(id) {
  // The operator may have left the database while a change was sent.
  if (id !== named() || token === '') return;
  const own = ++view;
  const facts = await json('GET', database(id));
  if (own !== view) return;
  $('details-title').textContent = id;
  const { outline, summary } = facts;
  $('facts').replaceChildren(
    ...[
      ['State', state(facts.state)],
      ['Size', size(outline.sizeBytes)],
      ['Log position', number(outline.watermark)],
      ['Last write', time(outline.lastWriteMs, 'never')],
      ['Identity', element('code', {}, summary?.identity ?? 'unknown')],
      ['Schema', element('code', {}, summary?.schemaHash ?? 'unknown')],
      ...(outline.damage === null ? [] : [['Damage', element('span', { className: 'bad' }, outline.damage)]]),
    ].map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value))),
  );
  $('actions').replaceChildren(...databaseActions(id, facts.state));
  $('devices').replaceChildren(devicesTable(facts.devices));
  $('members').replaceChildren(membersTable(id, facts.members));
  $('invitations').replaceChildren(invitationsTable(id, facts.invitations));
  $('tables').replaceChildren(
    table(
      'tables-title',
      [
        ['Table', ([name]) => name],
        ['Rows', ([, rows]) => number(rows), 'number'],
      ],
      Object.entries(summary?.rowsByTable ?? {}),
      'The file cannot be read.',
    ),
  );
  $('add-member').onsubmit = (event) => {
    event.preventDefault();
    void run(event.submitter ?? $('add-member'), () =>
      change(id, `${$('member').value} is now ${$('role').value}.`, () =>
        setRole(id, $('member').value, $('role').value),
      ),
    );
  };
  const isNew = $('details').hidden || id !== detailed;
  detailed = id;
  show('details');
  if (isNew) {
    $('backups-part').hidden = true;
    $('details-title').focus();
  }
  void loadBackups(id, own).catch(complain);
}

/**
 * The place of the backups may be slow or out of reach: the rest of the page does not wait for it.
 * @param {string} id
 * @param {number} own
 * @param {number | null} before ms since 1970; null for the first page
 * @param {any[]} shown the backups of the pages before
 */
async function loadBackups(id, own, before = null, shown = []) {
  const query = before === null ? '' : `?before=${before}`;
  const page = await json('GET', `${database(id)}/backups${query}`).catch((error) => error);
  if (own !== view) return;
  if (page instanceof Error) {
    if (page.status === 401) throw page;
    $('backups').replaceChildren(
      element('p', { className: 'hint bad' }, `The backups cannot be read: ${page.message}`),
    );
    $('backups-summary').textContent = '';
    $('more-backups').hidden = true;
    $('backups-part').hidden = false;
    return;
  }
  const { destination, total, totalBytes, next } = page;
  const backups = [...shown, ...page.backups];
  $('backups-part').hidden = destination === null;
  $('backups-summary').textContent =
    `${plural(total, 'backup', 'backups')} in ${destination}, ${size(totalBytes)}. Each is the state at its time; the command restores any second between them.`;
  $('backups').replaceChildren(
    table(
      'backups-title',
      [
        ['Time', ({ timeMs }) => second.format(timeMs)],
        ['Content', contentOf],
        ['Size', ({ sizeBytes }) => size(sizeBytes), 'number'],
        ['Action', ({ timeMs }) => button('Restore', () => restoreBackup(id, timeMs))],
      ],
      backups,
      'No part of this database has been copied yet.',
    ),
  );
  $('more-backups').hidden = next === null;
  $('more-backups').onclick = () => run($('more-backups'), () => loadBackups(id, own, next, backups));
}

const contentOf = ({ isWhole, copies }) =>
  isWhole ? 'The whole file' : copies === 1 ? 'Changes' : `Changes of ${count.format(copies)} copies`;

async function restoreBackup(id, timeMs) {
  const at = second.format(timeMs);
  const sure = await confirm({
    title: `Restore the backup of ${at}?`,
    text: `This adds a database with the rows of ${id} at that time. ${id} stays in use, and its devices do not join the new one.`,
    action: 'Restore',
    needsNewId: true,
  });
  if (sure === null) return;
  const { id: restored } = sure.past;
  say('Restoring …');
  const query = new URLSearchParams({ from: id, at: String(timeMs) });
  await json('POST', `${database(restored)}/restore-backup?${query}`);
  say(`${restored} has the rows of ${id} at ${at}.`);
}

/** Sends a change, then shows the current state of the database. */
async function change(id, done, work) {
  await work();
  await loadDetails(id);
  say(done);
}

function databaseActions(id, now) {
  const post = (action) => json('POST', `${database(id)}/${action}`);
  const ended = (did, { sessions }) => `${did} ${plural(sessions, 'session', 'sessions')} ended.`;
  return [
    button('Refresh', () => loadDetails(id)),
    button('Download', () => download(id)),
    button('Close', async () => {
      const answer = await post('close');
      await loadDetails(id);
      say(ended('The file is closed until a client returns.', answer));
    }),
    now === 'draining'
      ? button('Open', () =>
          change(id, 'Clients can use the database again.', () => ask('POST', `${database(id)}/open`)),
        )
      : button('Drain', async () => {
          const sure = await confirm({
            title: `Drain ${id}?`,
            text: 'Its sessions end, and no client can connect until you open the database or restart the server. Devices keep their changes.',
            action: 'Drain',
          });
          if (sure === null) return;
          const answer = await post('drain');
          await loadDetails(id);
          say(ended('Clients cannot connect.', answer));
        }),
    button('Restore', async () => {
      const sure = await confirm({
        title: `Restore a past state of ${id}?`,
        text: 'This adds a database with the rows of that time. This one stays in use. Every table needs a history.',
        action: 'Restore',
        needsPast: true,
      });
      if (sure === null) return;
      const { time: at, id: restored } = sure.past;
      say('Restoring …');
      const query = new URLSearchParams({ from: id, at: at.toISOString() });
      await json('POST', `${database(restored)}/restore?${query}`);
      say(`${restored} has the rows of ${id} at ${time(at.getTime(), '')}.`);
    }),
    button(
      'Replace',
      async () => {
        const sure = await confirm({
          title: `Replace ${id}?`,
          text: 'The file that you choose replaces the database. The old file stays in the data directory, and devices send again what the new one lacks.',
          action: 'Replace',
          id,
          needsFile: true,
        });
        if (sure === null) return;
        say('Sending the file …');
        const { kept } = await json('POST', `${database(id)}/replace?confirm=${encodeURIComponent(id)}`, sure.file);
        await loadDetails(id);
        say(`The database is replaced.${kept === null ? '' : ` The old file is ${kept}.`}`);
      },
      'danger',
    ),
    button(
      'Delete',
      async () => {
        const sure = await confirm({
          title: `Delete ${id}?`,
          text: 'This deletes its rows, members and invitations on the server. Devices keep their rows, but cannot sync them again. Download the database first if you may need it.',
          action: 'Delete',
          id,
        });
        if (sure === null) return;
        await ask('DELETE', `${database(id)}?confirm=${encodeURIComponent(id)}`);
        location.hash = '';
        await loadList();
        say(`${id} is deleted.`);
      },
      'danger',
    ),
  ];
}

function devicesTable(devices) {
  const DEVICE_STATES = { online: 'Online', joining: 'Connecting', offline: 'Offline' };
  return table(
    'devices-title',
    [
      ['Principal', ({ principal }) => principal],
      ['Device', ({ site }) => element('code', { title: site }, site.slice(0, 12))],
      ['State', (device) => DEVICE_STATES[device.state]],
      ['Last sync', ({ lastSeenMs, lastWriteMs }) => time(lastSeenMs ?? lastWriteMs, 'unknown')],
      ['Behind', ({ lag }) => (lag === null ? 'unknown' : plural(lag, 'change', 'changes')), 'number'],
      ['Address', ({ address }) => address ?? 'none'],
      ['Problem', problemOf, 'wide'],
    ],
    devices,
    'No device has synced yet.',
  );
}

function problemOf({ blockedBy, rejections }) {
  const lines = [
    ...(blockedBy === null ? [] : [`${sentenceOf(blockedBy)} (${blockedBy.code})`]),
    ...rejections.map(({ code, count: times }) => `${plural(times, 'change', 'changes')} rejected: ${code}`),
  ];
  if (lines.length === 0) return 'None';
  return element('span', {}, ...lines.map((line) => element('div', { className: 'bad' }, line)));
}

const setRole = (id, principal, role) =>
  ask('PUT', `${database(id)}/members/${encodeURIComponent(principal)}`, { role });

function membersTable(id, members) {
  const roleOf = ({ principal, role }) => {
    const select = element('select', { 'aria-label': `Role of ${principal}` });
    select.append(
      ...(role === null ? [element('option', { value: '', selected: true, disabled: true }, 'revoked')] : []),
      ...ROLES.map((one) => element('option', { value: one, selected: one === role }, one)),
    );
    select.addEventListener('change', () =>
      run(select, () =>
        change(id, `${principal} is now ${select.value}.`, async () => {
          try {
            await setRole(id, principal, select.value);
          } catch (error) {
            // Otherwise the page would show a role that is not stored.
            select.value = role ?? '';
            throw error;
          }
        }),
      ),
    );
    return select;
  };
  const revoke = ({ principal, role }) =>
    role === null
      ? 'Revoked'
      : button(
          'Revoke',
          () =>
            change(id, `${principal} is revoked.`, () =>
              ask('DELETE', `${database(id)}/members/${encodeURIComponent(principal)}`),
            ),
          'danger',
        );
  return table(
    'members-title',
    [
      ['Principal', ({ principal }) => principal],
      ['Role', roleOf],
      ['Access', revoke],
    ],
    members,
    'The server stores no roles for this database. Tokens carry the roles.',
  );
}

function invitationsTable(id, invitations) {
  return table(
    'invitations-title',
    [
      ['Role', ({ role }) => role],
      ['Invited by', ({ invitedBy }) => invitedBy ?? 'the server'],
      ['Expires', ({ expiresAtMs }) => time(expiresAtMs, 'never')],
      [
        'Action',
        ({ id: invitation }) =>
          button(
            'Withdraw',
            () =>
              change(id, 'The invitation is withdrawn.', () =>
                ask('DELETE', `${database(id)}/invitations/${invitation}`),
              ),
            'danger',
          ),
      ],
    ],
    invitations,
    'No invitation is pending.',
  );
}

/** The browser keeps the file in memory until it is saved. For very large databases, use the command. */
async function download(id) {
  say('Copying the database …');
  const response = await ask('GET', `${database(id)}/export`);
  const url = URL.createObjectURL(await read(response.blob()));
  element('a', { href: url, download: `${id}.sqlite` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
  say(`${id}.sqlite is downloaded.`);
}

/** Shows the view that the address names. */
async function navigate() {
  say('');
  if ($('confirm').open) $('confirm').close();
  if (token === '') return signOut();
  const id = named();
  try {
    await (id === '' ? loadList() : loadDetails(id));
  } catch (error) {
    complain(error);
    if (id !== '' && token !== '') await loadList().catch(complain);
  }
}

/** @param {(submitter: any) => unknown} work */
function onSubmit(form, work) {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void run(event.submitter ?? form, work);
  });
}

onSubmit($('sign-in').querySelector('form'), async () => {
  token = $('token').value.trim();
  await json('GET', '/databases?limit=1');
  sessionStorage.setItem(KEY, token);
  $('token').value = '';
  await navigate();
});
onSubmit($('search'), () => loadList());
onSubmit($('create'), async () => {
  const id = $('new-id').value;
  const [file] = $('new-file').files;
  if (file === undefined) await ask('PUT', database(id));
  else {
    say('Sending the file …');
    await ask('POST', `${database(id)}/import`, file);
  }
  $('create').reset();
  await loadList();
  say(`${id} is added.`);
});
onSubmit($('revoke'), async () => {
  const principal = $('principal').value;
  const sure = await confirm({
    title: `Revoke ${principal} everywhere?`,
    text: 'Sessions end at once, in every database. You can readmit the principal later, but not restore invitations.',
    action: 'Revoke',
  });
  if (sure === null) return;
  await ask('PUT', `/revoked/${encodeURIComponent(principal)}`);
  say(`${principal} is revoked in every database.`);
});
$('readmit').addEventListener('click', () =>
  run($('readmit'), async () => {
    const principal = $('principal').value;
    if (!$('principal').reportValidity()) return;
    await ask('DELETE', `/revoked/${encodeURIComponent(principal)}`);
    say(`${principal} is readmitted.`);
  }),
);
$('refresh').addEventListener('click', () => run($('refresh'), () => loadList()));
$('sign-out').addEventListener('click', () => {
  say('');
  signOut();
});
$('cancel').addEventListener('click', () => $('confirm').close());
$('role').append(...ROLES.map((role) => element('option', { value: role, selected: role === 'editor' }, role)));
addEventListener('hashchange', () => void navigate());
void navigate();
