import { expect, test } from './harness/test.ts';
import { addAccount, expectBalance, openAccount } from './steps/accounts.ts';
import { addEntry, ledgerRow } from './steps/entries.ts';
import { chooseFile, importPreviewed } from './steps/import.ts';

const ofx = `OFXHEADER:100
DATA:OFXSGML
VERSION:102
ENCODING:USASCII
CHARSET:1252

<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>EUR<BANKACCTFROM><ACCTID>4711</BANKACCTFROM><BANKTRANLIST>
<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20250603120000[+1:CET]<TRNAMT>-3.50<FITID>A1<NAME>Caf\u00e9 Nero</STMTTRN>
<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20250604<TRNAMT>-900.00<FITID>A2<NAME>Rent &amp; Co</STMTTRN>
</BANKTRANLIST></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>
`;

test('an OFX file is imported as the bank wrote it, whatever its name, and the same entries are not imported twice', async ({
  newPerson,
}) => {
  const { page } = await newPerson();
  await addAccount(page, { name: 'Giro', currency: 'EUR' });
  await addEntry(page, { payee: 'cafe café', amount: '3.50', date: '2025-06-01' });
  await chooseFile(page, { name: 'statement.txt', contents: Buffer.from(ofx, 'latin1') });
  const summary = page.getByRole('region', { name: 'Import', exact: true });
  await expect(summary).toContainText('1 new entry, 1 possible duplicate.');
  await importPreviewed(page, 1);
  await openAccount(page, 'Giro');
  await expect(ledgerRow(page, 'Rent & Co')).toContainText('-€900.00');
  await expectBalance(page, '-€903.50', '2 entries');

  // The bank sends the entry again, as XML, with a different date and name.
  const qfx = `<?xml version="1.0"?><?OFX OFXHEADER="200" VERSION="211"?>${ofx
    .slice(ofx.indexOf('<OFX>'))
    .replace('20250604', '20250605')
    .replace(/<(DTPOSTED|TRNAMT|FITID|NAME|CURDEF|ACCTID|TRNTYPE)>([^<]*)/g, '<$1>$2</$1>')}`;
  await chooseFile(page, { name: 'statement.qfx', contents: qfx });
  await expect(summary).toContainText('1 possible duplicate');
  await expect(
    page.getByRole('table', { name: 'Preview' }).getByRole('row').filter({ hasText: 'Rent & Co' }),
  ).toContainText('Already there');
  await page.getByRole('checkbox', { name: /^Import row 1 anyway/ }).check();
  await importPreviewed(page, 1);
  await openAccount(page, 'Giro');
  await expect(ledgerRow(page, 'Café Nero')).toContainText('-€3.50');
});

test("a row is corrected in the preview, and the account's next statement is read with the same settings", async ({
  newPerson,
}) => {
  const { page } = await newPerson();
  await addAccount(page, { name: 'Card', currency: 'EUR' });
  await chooseFile(page, {
    name: 'may.csv',
    contents: 'When,Who,How much\n05/04/2025,Coffee,3.50\nsoon,Rent,900\n05/05/2025,Tea,1.00\n',
  });
  await page.getByLabel('Date order').selectOption({ label: '12/31/2025 (month first)' });
  await page.getByLabel('Flip signs').check();
  await page.getByRole('button', { name: 'Correct row 3' }).click();
  const correction = page.getByRole('form', { name: 'Correct row 3' });
  await correction.getByLabel('When').fill('05/06/2025');
  await correction.getByRole('button', { name: 'Correct' }).click();
  await importPreviewed(page, 3);
  await openAccount(page, 'Card');
  await expect(ledgerRow(page, 'Rent')).toContainText('6 May 2025');
  await expectBalance(page, '-€904.50', '3 entries');

  await chooseFile(page, { name: 'june.csv', contents: 'When,Note,How much,Who\n06/04/2025,,4.50,Coffee\n' });
  await expect(page.getByText('Using the settings of the last statement of Card.')).toBeVisible();
  await importPreviewed(page, 1);
  await openAccount(page, 'Card');
  await expect(ledgerRow(page, 'Coffee').first()).toContainText('4 Jun 2025');
  await expectBalance(page, '-€909.00', '4 entries');
});

test('an OFX file that is truncated, empty or an error from the bank changes nothing and is reported', async ({
  newPerson,
}) => {
  const { page } = await newPerson();
  await addAccount(page, { name: 'Giro', currency: 'EUR' });
  const files = [
    [ofx.slice(0, -40), /is incomplete/],
    [ofx.replace(/<STMTTRN>[\s\S]*<\/STMTTRN>/, ''), /without any entries/],
    ['<OFX><SONRS><STATUS><CODE>15500<SEVERITY>ERROR</STATUS></SONRS></OFX>', /error message from the bank/],
  ] as const;
  for (const [contents, sentence] of files) {
    await chooseFile(page, { name: 'statement.ofx', contents });
    await expect(page.getByRole('alert')).toHaveText(sentence);
  }
  await openAccount(page, 'Giro');
  await expectBalance(page, '€0.00', '0 entries');
});
