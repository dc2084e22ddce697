import { RockpoolError } from '@rockpool/client';
import { NameTaken } from '../categories/actions.ts';
import { EntryGone } from '../entries/actions.ts';
import { PeopleError } from '../share/members.ts';

/** The message for an error, with the remedy. Falls back to Rockpool's own message. */
export function errorSentence(error: unknown): string {
  if (error instanceof PeopleError) return error.message;
  if (error instanceof NameTaken) return 'Another category, perhaps a hidden one, has this name. Choose another name.';
  if (error instanceof EntryGone)
    return 'This entry, or a part of it, was deleted or changed in the meantime, so your changes were not saved. You can restore deleted entries under “Deleted entries”.';
  if (error instanceof DOMException)
    return 'This browser does not save data for this page. It may be a private window, or storage may be turned off.';
  if (!(error instanceof RockpoolError)) return 'Something unexpected went wrong. Everything saved before is safe.';
  switch (error.code) {
    case 'storage-unsupported':
      return 'This browser cannot keep a database for this page. Chrome, Edge and other Chromium browsers can.';
    case 'storage-busy':
      return 'Another window or program is using the budget’s storage. Close other windows of this page, then try again.';
    case 'storage-ephemeral':
      return 'This is a private window, which deletes the budget when it closes. Open this address in a normal window.';
    case 'storage-full':
      return 'This device is out of space, so this change was not saved. Everything saved before is safe. Free up some space, then try again.';
    case 'storage-corrupt':
      return 'The budget’s file on this device is damaged. It was kept; nothing was deleted.';
    case 'storage-lost':
      return 'The browser closed the budget’s storage. Reload the page.';
    case 'tab-outdated':
      return 'Another tab runs a newer version of this app. Reload this tab, or close the other one.';
    case 'app-outdated':
      return 'A newer version of this app has changed the budget. This version can show it, but not change it. Reload the page to get the newer version.';
    case 'database-newer':
      return 'The budget on this device was saved by a newer version of this app and was not changed. Reload the page to get the newer version.';
    case 'changeset-too-large':
      return 'This change is too large, so none of it was saved.';
    case 'transaction-timeout':
      return 'This change took too long, so nothing was changed. Select fewer entries.';
    case 'constraint-foreign-key':
      return 'A category or account that this uses was deleted in the meantime, so nothing was saved. Choose another one.';
    case 'changes-unsent':
      return 'Some changes have not reached the server yet. Wait until this budget is up to date, then try again.';
    case 'undo-refused':
      return 'This was changed again since then, so it was not undone.';
    case 'conflict-not-restorable':
      return 'The item it belonged to was deleted, so it cannot be restored.';
    case 'history-version-gone':
      return 'This version is no longer kept.';
    case 'version-name-taken':
      return 'Another version has this name. Choose another one.';
    case 'version-names-full':
      return 'There are too many named versions. Remove a name first.';
    case 'branch-ended':
      return 'This what-if was applied or discarded in another tab.';
    case 'branch-missing':
      return 'There is no what-if on this device. It may have been applied or discarded.';
    case 'branch-schema-changed':
      return 'The app was updated since this what-if began, so it cannot be applied. You can still read it.';
    case 'leader-unreachable':
    case 'transaction-lost':
      return 'The tab that saves did not respond. This change was not saved. Try again.';
    default:
      return error.message;
  }
}
