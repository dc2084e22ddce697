import { describe, expect, it } from 'vitest';
import { guessFormats, readChosenFile } from './chosen-file.ts';
import type { Encoding } from './file/encoding.ts';
import { fileProblemSentence } from './file/problem.ts';
import { isComplete } from './rows/columns.ts';
import { nothingKnown, previewImport } from './rows/preview.ts';

/** Encodes by inverting the decoder, because the platform has no encoder. */
function encode(text: string, encoding: Encoding): Uint8Array {
  if (encoding === 'utf-8') return new TextEncoder().encode(text);
  if (encoding === 'utf-16le' || encoding === 'utf-16be') {
    const bytes = new Uint8Array(Buffer.from(text, 'utf16le'));
    if (encoding === 'utf-16be') for (let at = 0; at < bytes.length; at += 2) bytes.subarray(at, at + 2).reverse();
    return bytes;
  }
  const table = encoderOf(encoding);
  return new Uint8Array(
    Array.from(text).flatMap((character) => {
      const code = character.codePointAt(0) ?? 0;
      const bytes = code < 0x80 ? [code] : table.get(character);
      if (bytes === undefined) throw new Error(`${encoding} has no ${character}`);
      return bytes;
    }),
  );
}

const encoders = new Map<Encoding, Map<string, number[]>>();

function encoderOf(encoding: Encoding): ReadonlyMap<string, readonly number[]> {
  const known = encoders.get(encoding);
  if (known !== undefined) return known;
  const table = new Map<string, number[]>();
  const decoder = new TextDecoder(encoding);
  for (let first = 0xff; first >= 0x80; first -= 1) {
    for (let second = 0xff; second >= 0x40; second -= 1) {
      const character = decoder.decode(new Uint8Array([first, second]));
      if (Array.from(character).length === 1 && character !== '\ufffd') table.set(character, [first, second]);
    }
    const character = decoder.decode(new Uint8Array([first]));
    if (character.length === 1 && character !== '\ufffd') table.set(character, [first]);
  }
  encoders.set(encoding, table);
  return table;
}

type Row = readonly [date: string, amountMinor: number, payee: string];

interface Shape {
  readonly title: string;
  readonly file: string | Uint8Array;
  readonly currency?: string;
  /** Expected encoding; UTF-8 if omitted. */
  readonly encoding?: Encoding;
  readonly rows?: readonly Row[];
  /** Expected number of rows, for long files. */
  readonly rowCount?: number;
  /** Part of the sentence that refuses the file. */
  readonly refused?: string;
  /** Part of the problem of its only invalid row. */
  readonly rowProblem?: string;
  /** The user has to choose between readings. */
  readonly asks?: boolean;
}

const lines = (...rows: readonly string[]): string => rows.map((row) => `${row}\r\n`).join('');

const german = lines(
  '"Umsatzanzeige";"Datei erstellt am: 03.02.2025"',
  '"IBAN";"DE00 0000 0000 0000 0000 00"',
  '',
  '"Buchung";"Valuta";"Auftraggeber/Empfänger";"Buchungstext";"Verwendungszweck";"Saldo";"Währung";"Betrag";"Währung"',
  '"31.01.2025";"31.01.2025";"Bäckerei Müßig";"Lastschrift";"Brötchen";"1.996,50";"EUR";"-3,50";"EUR"',
  '"30.01.2025";"30.01.2025";"Arbeitgeber GmbH";"Gehalt";"Januar";"2.000,00";"EUR";"1.900,00";"EUR"',
);
const germanRows: readonly Row[] = [
  ['2025-01-31', -350, 'Bäckerei Müßig'],
  ['2025-01-30', 190_000, 'Arbeitgeber GmbH'],
];
const japanese = lines(
  '日付,摘要,出金金額,入金金額,残高',
  '2025/01/31,コンビニエンスストア,350,,99650',
  '2025/01/25,給与振込 株式会社やまと,,250000,100000',
);
const japaneseRows: readonly Row[] = [
  ['2025-01-31', -350, 'コンビニエンスストア'],
  ['2025-01-25', 250_000, '給与振込 株式会社やまと'],
];
const korean = lines(
  '거래일자,적요,출금액,입금액,잔액',
  '2025-01-31,편의점 결제,3500,0,996500',
  '2025-01-25,급여 입금 주식회사,0,2500000,1000000',
);
const koreanRows: readonly Row[] = [
  ['2025-01-31', -3_500, '편의점 결제'],
  ['2025-01-25', 2_500_000, '급여 입금 주식회사'],
];
const chineseSimplified = lines(
  '交易日期,对方户名,支出,收入,余额',
  '20250131,北京超市有限公司,35.50,,964.50',
  '20250125,上海科技工资发放,,9000.00,1000.00',
);
const chineseRows: readonly Row[] = [
  ['2025-01-31', -3_550, '北京超市有限公司'],
  ['2025-01-25', 900_000, '上海科技工资发放'],
];
const chineseTraditional = lines(
  '交易日期,摘要,支出金額,存入金額,餘額',
  '2025/01/31,臺北便利商店消費,350,,99650',
  '2025/01/25,薪資轉帳入帳,,45000,100000',
);
const traditionalRows: readonly Row[] = [
  ['2025-01-31', -35_000, '臺北便利商店消費'],
  ['2025-01-25', 4_500_000, '薪資轉帳入帳'],
];

const utf8WithBadByte = (): Uint8Array => {
  const bytes = encode(`${german}"29.01.2025";"";"Kiosk X";"";"";"";"EUR";"-1,00";"EUR"\r\n`, 'utf-8');
  bytes[bytes.lastIndexOf('X'.charCodeAt(0))] = 0xe9;
  return bytes;
};

const camt = (entries: string, message = 'BkToCstmrStmt', statement = 'Stmt'): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><${message}><GrpHdr><MsgId>1</MsgId></GrpHdr><${statement}><Acct><Id><IBAN>DE00000000000000001234</IBAN></Id><Ccy>EUR</Ccy></Acct>${entries}</${statement}></${message}></Document>\n`;
const camtEntry = (
  amount: string,
  sign: 'CRDT' | 'DBIT',
  details: string,
  status = '<Sts><Cd>BOOK</Cd></Sts>',
): string =>
  `<Ntry><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>${sign}</CdtDbtInd>${status}<BookgDt><Dt>2025-01-31</Dt></BookgDt><AcctSvcrRef>R${amount}</AcctSvcrRef><NtryDtls>${details}</NtryDtls></Ntry>`;

const ofx = (...amounts: readonly [string, string]): string =>
  `OFXHEADER:100\nDATA:OFXSGML\n\n<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>KWD<BANKACCTFROM><ACCTID>1234</BANKACCTFROM><BANKTRANLIST>${amounts.map((amount, index) => `<STMTTRN><TRNTYPE>OTHER<DTPOSTED>20250131<TRNAMT>${amount}<FITID>${index}<NAME>${['Coffee', 'Wages'][index]}</STMTTRN>`).join('')}</BANKTRANLIST></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>\n`;

const fiftyThousand = `Date,Description,Amount\n${Array.from({ length: 50_000 }, (_, index) => `${new Date(1_600_000_000_000 + index * 3_600_000).toISOString().slice(0, 10)},Shop ${index % 90},-${index % 100}.${String(index % 97).padStart(2, '0')}`).join('\n')}\n`;

const coffee: Row = ['2025-01-31', -350, 'Coffee'];
const threeDecimals: readonly Row[] = [
  ['2025-01-31', -1_500, 'Coffee'],
  ['2025-01-31', 1_900, 'Wages'],
];
const wages: Row = ['2025-01-25', 190_000, 'Wages'];

const shapes: readonly Shape[] = [
  { title: 'a German giro account in UTF-8 with a preamble and a balance', file: german, rows: germanRows },
  {
    title: 'the same in Windows-1252',
    file: encode(german, 'windows-1252'),
    encoding: 'windows-1252',
    rows: germanRows,
  },
  { title: 'the same with a byte order mark', file: `\ufeff${german}`, rows: germanRows },
  {
    title: 'the same in UTF-16 without a byte order mark',
    file: encode(german, 'utf-16le'),
    encoding: 'utf-16le',
    rows: germanRows,
  },
  {
    title: 'the same in big-endian UTF-16 without a byte order mark',
    file: encode(german, 'utf-16be'),
    encoding: 'utf-16be',
    rows: germanRows,
  },
  {
    title: 'the same in UTF-8 with one bad byte, which stays one bad character',
    file: utf8WithBadByte(),
    rows: [...germanRows, ['2025-01-29', -100, 'Kiosk \ufffd']],
  },
  {
    title: 'a Japanese bank in Shift JIS',
    file: encode(japanese, 'shift_jis'),
    encoding: 'shift_jis',
    currency: 'JPY',
    rows: japaneseRows,
  },
  {
    title: 'a Japanese bank in EUC-JP',
    file: encode(japanese, 'euc-jp'),
    encoding: 'euc-jp',
    currency: 'JPY',
    rows: japaneseRows,
  },
  {
    title: 'a Korean bank in EUC-KR',
    file: encode(korean, 'euc-kr'),
    encoding: 'euc-kr',
    currency: 'KRW',
    rows: koreanRows,
  },
  {
    title: 'a Chinese bank in GB18030',
    file: encode(chineseSimplified, 'gb18030'),
    encoding: 'gb18030',
    currency: 'CNY',
    rows: chineseRows,
  },
  {
    title: 'a Taiwanese bank in Big5',
    file: encode(chineseTraditional, 'big5'),
    encoding: 'big5',
    currency: 'TWD',
    rows: traditionalRows,
  },
  {
    title: 'a Russian bank in Windows-1251',
    file: encode(
      lines(
        'Дата операции;Описание;Сумма операции;Валюта',
        '31.01.2025;Магазин Продукты на Тверской;-350,50;RUB',
        '25.01.2025;Зачисление заработной платы;90 000,00;RUB',
      ),
      'windows-1251',
    ),
    encoding: 'windows-1251',
    currency: 'RUB',
    rows: [
      ['2025-01-31', -35_050, 'Магазин Продукты на Тверской'],
      ['2025-01-25', 9_000_000, 'Зачисление заработной платы'],
    ],
  },
  {
    title: 'an American bank, month first, with a running balance',
    file: lines(
      'Date,Description,Amount,Running Bal.',
      '01/31/2025,"Coffee","-3.50","1,996.50"',
      '01/25/2025,"Wages","1,900.00","2,000.00"',
    ),
    currency: 'USD',
    rows: [coffee, wages],
  },
  {
    title: 'a British bank, day first, with money out and money in',
    file: lines(
      'Date,Description,Money Out,Money In,Balance',
      '31/01/2025,Coffee,3.50,,1996.50',
      '25/01/2025,Wages,,1900.00,2000.00',
    ),
    currency: 'GBP',
    rows: [coffee, wages],
  },
  {
    title: 'a bank with the year first and points',
    file: lines('date;name;amount', '2025.01.31;Coffee;-3.50', '2025.01.25;Wages;1900.00'),
    rows: [coffee, wages],
  },
  {
    title: 'a bank with the year and then the day',
    file: lines('Date,Payee,Amount', '2025-31-01,Coffee,-3.50', '2025-25-01,Wages,1900.00'),
    rows: [coffee, wages],
  },
  {
    title: 'a bank with months as names',
    file: lines('Transaction Date,Payee,Amount', '31-Jan-25,Coffee,-3.50', '25-Jan-25,Wages,"1,900.00"'),
    rows: [coffee, wages],
  },
  {
    title: 'a French bank with month names and narrow spaces',
    file: lines('Date;Libellé;Montant', '31 janv. 2025;Coffee;-3,50', '25 janv. 2025;Wages;1\u202f900,00'),
    rows: [coffee, wages],
  },
  {
    title: 'a column of CR and DR beside amounts without a sign',
    file: lines(
      'Txn Date,Narration,Amount,Dr/Cr,Balance',
      '31/01/2025,Coffee,3.50,DR,1996.50',
      '25/01/2025,Wages,"1,900.00",CR,2000.00',
    ),
    currency: 'INR',
    rows: [coffee, wages],
  },
  {
    title: 'CR and DR after the amount',
    file: lines('Date,Payee,Amount', '31/01/2025,Coffee,3.50 DR', '25/01/2025,Wages,"1,900.00 CR"'),
    rows: [coffee, wages],
  },
  {
    title: 'a Dutch bank with Af and Bij, and dates without separators',
    file: lines(
      '"Datum";"Naam / Omschrijving";"Rekening";"Af Bij";"Bedrag (EUR)";"Mededelingen"',
      '"20250131";"Coffee";"NL00";"Af";"3,50";"pas 1"',
      '"20250125";"Wages";"NL00";"Bij";"1900,00";""',
    ),
    rows: [coffee, wages],
  },
  {
    title: 'an Austrian bank with S and H',
    file: lines('Datum;Empfänger;Betrag;S/H', '31.01.2025;Coffee;3,50;S', '25.01.2025;Wages;1.900,00;H'),
    rows: [coffee, wages],
  },
  {
    title: 'debit and credit columns with zeros in the other one',
    file: lines('Date,Payee,Debit,Credit', '31/01/2025,Coffee,3.50,0.00', '25/01/2025,Wages,0.00,1900.00'),
    rows: [coffee, wages],
  },
  {
    title: 'a footer with totals',
    file: lines('Date,Payee,Amount', '31/01/2025,Coffee,-3.50', '25/01/2025,Wages,1900.00', '', 'Total,,1896.50'),
    rowProblem: 'date',
    rows: [coffee, wages],
  },
  {
    title: 'line breaks and quotes inside quoted cells',
    file: lines(
      'Date,Payee,Memo,Amount',
      '31/01/2025,Coffee,"two\nlines, ""quoted""",-3.50',
      '25/01/2025,Wages,,1900.00',
    ),
    rows: [coffee, wages],
  },
  {
    title: 'empty lines everywhere, and old Mac line ends',
    file: '\r\rDate;Payee;Amount\r\r31/01/2025;Coffee;-3,50\r\r\r25/01/2025;Wages;1900,00\r\r',
    rows: [coffee, wages],
  },
  {
    title: 'tabs and no header',
    file: '2025-01-31\tCoffee\t-3.50\n2025-01-25\tWages\t1900.00\n',
    rows: [coffee, wages],
  },
  {
    title: 'Swiss apostrophes in thousands and the sign at the end',
    file: lines('Datum;Text;Betrag', '31.01.2025;Coffee;3.50-', "25.01.2025;Wages;1'900.00"),
    currency: 'CHF',
    rows: [coffee, wages],
  },
  {
    title: 'parentheses and currency signs',
    file: lines('Posting Date,Payee,Amount', '01/31/2025,Coffee,($3.50)', '01/25/2025,Wages,"$1,900.00"'),
    currency: 'USD',
    rows: [coffee, wages],
  },
  { title: '50,000 rows', file: fiftyThousand, rowCount: 50_000 },
  {
    title: 'a row in another currency',
    file: lines('Date;Payee;Amount;Currency', '31.01.2025;Coffee;-3,50;EUR', '30.01.2025;Hotel;-90,00;USD'),
    rowProblem: 'in USD, and the account is in EUR',
    rows: [coffee],
  },
  {
    title: 'dates that fit two orders',
    file: lines('Date,Payee,Amount', '04/05/2025,Coffee,-3.50', '05/04/2025,Wages,1900.00'),
    asks: true,
  },
  {
    title: 'a QIF file with two-digit years after an apostrophe',
    file: "!Type:Bank\nD1/31'25\nT-3.50\nPCoffee\nLFood:Eating out\n^\nD1/25'25\nT1,900.00\nPWages\nN1042\n^\n",
    rows: [coffee, wages],
  },
  {
    title: 'a QIF file with the day first',
    file: '!Type:CCard\nD31/01/2025\nT-3,50\nPCoffee\n^\nD25/01/2025\nT1900,00\nPWages\n^\n',
    rows: [coffee, wages],
  },
  { title: 'a QIF file that is cut off', file: '!Type:Bank\nD31/01/2025\nT-3,50\nPCof', refused: 'incomplete' },
  {
    title: 'a QIF file whose amounts may be thousands or have three decimals',
    file: '!Type:Bank\nD31/01/2025\nT-1.500\nPCoffee\n^\nD25/01/2025\nT1.900\nPWages\n^\n',
    currency: 'KWD',
    asks: true,
  },
  {
    title: 'an OFX file in a currency with three decimals',
    file: ofx('-1.500', '1.900'),
    currency: 'KWD',
    rows: threeDecimals,
  },
  {
    title: 'an OFX file in a currency with three decimals after a comma',
    file: ofx('-1,500', '1,900'),
    currency: 'KWD',
    rows: threeDecimals,
  },
  {
    title: 'an OFX file that writes both decimal marks',
    file: ofx('-1,500', '1.900'),
    currency: 'KWD',
    asks: true,
  },
  {
    title: 'a CAMT.053 statement in a currency with three decimals',
    file: camt(
      camtEntry('1.500', 'DBIT', '<TxDtls><RltdPties><Cdtr><Nm>Coffee</Nm></Cdtr></RltdPties></TxDtls>') +
        camtEntry('1.900', 'CRDT', '<TxDtls><RltdPties><Dbtr><Nm>Wages</Nm></Dbtr></RltdPties></TxDtls>'),
    ).replaceAll('EUR', 'KWD'),
    currency: 'KWD',
    rows: threeDecimals,
  },
  {
    title: 'a CAMT.053 statement, with a collected entry and a pending one',
    file: camt(
      camtEntry('3.50', 'DBIT', '<TxDtls><RltdPties><Cdtr><Pty><Nm>Coffee</Nm></Pty></Cdtr></RltdPties></TxDtls>') +
        camtEntry(
          '30.00',
          'DBIT',
          ['10.00', '20.00']
            .map(
              (amount, index) =>
                `<TxDtls><Amt Ccy="EUR">${amount}</Amt><RltdPties><Cdtr><Nm>Payee ${index + 1}</Nm></Cdtr></RltdPties></TxDtls>`,
            )
            .join(''),
        ) +
        camtEntry('9.00', 'DBIT', '<TxDtls/>', '<Sts>PDNG</Sts>'),
    ),
    rows: [coffee, ['2025-01-31', -1_000, 'Payee 1'], ['2025-01-31', -2_000, 'Payee 2']],
  },
  {
    title: 'a CAMT.053 statement with a reversal, a payment in another currency and a batch without all its payments',
    file: camt(
      camtEntry(
        '3.50',
        'CRDT',
        '<TxDtls><RltdPties><Dbtr><Nm>Me</Nm></Dbtr><Cdtr><Nm>Coffee</Nm></Cdtr></RltdPties></TxDtls>',
        '<RvslInd>true</RvslInd><Sts><Cd>BOOK</Cd></Sts>',
      ) +
        camtEntry(
          '9.20',
          'DBIT',
          '<TxDtls><AmtDtls><TxAmt><Amt Ccy="USD">10.00</Amt></TxAmt></AmtDtls><RltdPties><Cdtr><Nm>Diner</Nm></Cdtr></RltdPties></TxDtls>',
        ) +
        camtEntry(
          '30.00',
          'DBIT',
          ['10.00', '19.00']
            .map(
              (amount) =>
                `<TxDtls><Amt Ccy="EUR">${amount}</Amt><RltdPties><Cdtr><Nm>Landlord</Nm></Cdtr></RltdPties></TxDtls>`,
            )
            .join(''),
        ),
    ),
    rows: [
      ['2025-01-31', 350, 'Coffee'],
      ['2025-01-31', -920, 'Diner'],
      ['2025-01-31', -3_000, 'Landlord'],
    ],
  },
  {
    title: 'a CAMT.053 statement with a batch of several payees that is not divided',
    file: camt(
      camtEntry(
        '30.00',
        'DBIT',
        '<TxDtls><RltdPties><Cdtr><Nm>Coffee</Nm></Cdtr></RltdPties></TxDtls><TxDtls><RltdPties><Cdtr><Nm>Landlord</Nm></Cdtr></RltdPties></TxDtls>',
      ).replace('</Ntry>', '<AddtlNtryInf>Collective order</AddtlNtryInf></Ntry>'),
    ),
    rows: [['2025-01-31', -3_000, 'Collective order']],
  },
  {
    title: 'a CAMT.053 statement with a batch of payments in both directions',
    file: camt(
      camtEntry(
        '9.00',
        'CRDT',
        '<TxDtls><Amt Ccy="EUR">10.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><RltdPties><Dbtr><Nm>Customer</Nm></Dbtr></RltdPties></TxDtls>' +
          '<TxDtls><Amt Ccy="EUR">1.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><RltdPties><Cdtr><Nm>Card scheme</Nm></Cdtr></RltdPties></TxDtls>',
      ),
    ),
    rows: [
      ['2025-01-31', 1_000, 'Customer'],
      ['2025-01-31', -100, 'Card scheme'],
    ],
  },
  {
    title: 'a CAMT.053 statement of version 8 with ultimate parties, and with a bank as a party',
    file: camt(
      camtEntry(
        '1900.00',
        'CRDT',
        '<TxDtls><RltdPties><Dbtr><Pty><Nm>Payroll service</Nm></Pty></Dbtr><UltmtDbtr><Pty><Nm>Wages</Nm></Pty></UltmtDbtr></RltdPties></TxDtls>',
      ) +
        camtEntry(
          '3.50',
          'DBIT',
          '<TxDtls><RltdPties><Cdtr><Pty><Nm>Card reader</Nm></Pty></Cdtr><UltmtCdtr><Pty><Nm>Coffee</Nm></Pty></UltmtCdtr></RltdPties></TxDtls>',
        ) +
        camtEntry(
          '5.00',
          'DBIT',
          '<TxDtls><RltdPties><Cdtr><Agt><FinInstnId><Nm>Harbour Bank</Nm></FinInstnId></Agt></Cdtr></RltdPties></TxDtls>',
        ),
    ),
    rows: [
      ['2025-01-31', 190_000, 'Wages'],
      ['2025-01-31', -350, 'Coffee'],
      ['2025-01-31', -500, 'Harbour Bank'],
    ],
  },
  {
    title: 'a CAMT.052 report with a namespace prefix',
    file: camt(
      camtEntry(
        '1900.00',
        'CRDT',
        '<TxDtls><RltdPties><Dbtr><Nm>Wages &amp; Co</Nm></Dbtr></RltdPties></TxDtls>',
        '<Sts>BOOK</Sts>',
      ),
      'BkToCstmrAcctRpt',
      'Rpt',
    ).replace(/<(\/?)([A-Z])/g, '<$1ns2:$2'),
    rows: [['2025-01-31', 190_000, 'Wages & Co']],
  },
  {
    title: 'a CAMT file that is cut off',
    file: camt(camtEntry('1.00', 'DBIT', '<TxDtls/>')).slice(0, -40),
    refused: 'incomplete',
  },
  { title: 'an MT940 statement', file: ':20:START\n:25:12345/678\n:60F:C250101EUR100,00\n', refused: 'MT940' },
  { title: 'JSON', file: '[{"date":"2025-01-31","amount":-3.5}]', refused: 'JSON' },
  {
    title: 'XML of another kind',
    file: '<?xml version="1.0"?>\n<Rechnung><Betrag>1</Betrag></Rechnung>',
    refused: 'XML',
  },
  { title: 'a spreadsheet', file: new Uint8Array([0x50, 0x4b, 0x03, 0x04, 0x14]), refused: 'save it as CSV' },
  { title: 'a PDF', file: '%PDF-1.7\n', refused: 'PDF' },
  { title: 'a page of a session that has ended', file: '<!doctype html><title>Log in</title>', refused: 'web page' },
];

describe('a bank’s file is imported to the cent, or refused with a sentence that helps:', () => {
  it.each(shapes)('$title', async (shape) => {
    const { file, currency = 'EUR', encoding = 'utf-8', rows, rowCount, refused, rowProblem, asks = false } = shape;
    const chosen = await readChosenFile('statement', new Blob([file as Uint8Array<ArrayBuffer>]));
    if (refused !== undefined) {
      expect(chosen.ok ? 'read' : fileProblemSentence(chosen.problem)).toContain(refused);
      return;
    }
    if (!chosen.ok) throw new Error(fileProblemSentence(chosen.problem));
    const formats = guessFormats(chosen.value);
    expect({ encoding: chosen.value.encoding, complete: isComplete(formats.columns) }).toEqual({
      encoding,
      complete: true,
    });
    expect(formats.dateOrderOpen || formats.decimalMarkOpen).toBe(asks);
    const preview = previewImport(chosen.value.table, { accountId: 'a', currency, ...formats }, nothingKnown);
    const drafts = preview.flatMap(({ draft }) => (draft === undefined ? [] : [draft]));
    if (rowCount !== undefined) expect(drafts).toHaveLength(rowCount);
    if (rows !== undefined)
      expect(drafts.map(({ date, amountMinor, payee }) => [date, amountMinor, payee])).toEqual(rows);
    const problems = preview.flatMap((row) => row.problems.map((problem) => JSON.stringify(problem)));
    if (rowProblem === undefined) expect(problems).toEqual([]);
    else expect(preview.filter((row) => row.problems.length > 0)).toHaveLength(1);
  });
});
