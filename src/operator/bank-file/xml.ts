import sax from 'sax';
import { BankFileFault, checkedText } from './line.js';

/** The most nested elements, and what one part of a document that is read as a whole may have. */
const xmlMax = { depth: 40, values: 2_000, characters: 65_536, attributes: 100 } as const;

/** How many characters are read before attributes are counted: the parser compares each with all of its element. */
const pieceMax = 2_048;

const documentType = 'has a document type, which no message of a bank has';

/** The texts of a part of a document by their paths below it, such as `Refs/AcctSvcrRef` and `Amt@Ccy`. */
export class XmlPart {
  readonly #values = new Map<string, string[]>();
  #count = 0;
  #characters = 0;

  constructor(
    readonly name: string,
    /** The line of the file on which it begins. */
    readonly line: number,
  ) {}

  add(path: string, text: string, line: number): void {
    this.#count++;
    this.#characters += text.length;
    if (this.#count > xmlMax.values || this.#characters > xmlMax.characters)
      throw new BankFileFault(line, `has more in one \`${this.name}\` than is read of it`);
    const values = this.#values.get(path);
    if (values) values.push(text);
    else this.#values.set(path, [text]);
  }

  /** The one value of a path. Refuses several, of which none is better than another. */
  one(path: string): string | undefined {
    const values = this.#values.get(path) ?? [];
    if (values.length > 1) throw new BankFileFault(this.line, `has \`${path}\` more than once in its \`${this.name}\``);
    return values[0];
  }

  /** The values of a path in their order. */
  all(path: string): readonly string[] {
    return this.#values.get(path) ?? [];
  }
}

/** What a reader of documents does at its elements. Paths are those of local names below the root. */
export interface XmlReader {
  /** The root element. Refuses a document of another kind. */
  root(name: string, namespace: string, line: number): void;
  /** Whether the element at this path is read as a whole. */
  isPart(path: string): boolean;
  /** A whole part, at its end. */
  part(path: string, part: XmlPart): void;
  /** An element that begins, of those that are not within a part. */
  opened(path: string, line: number): void;
  closed(path: string): void;
}

/**
 * Reads an XML document piece by piece, with memory for one part. There is no document type and no entity beyond the
 * five of XML, so nothing of a document grows or leads elsewhere. Elements of another namespace than the root's are
 * passed over.
 */
export class XmlStream {
  readonly #parser = sax.parser(true, { xmlns: true, position: true });
  readonly #path: string[] = [];
  readonly #reader: XmlReader;
  #namespace: string | undefined;
  /** How many elements of another namespace are open. */
  #foreign = 0;
  #parts: { part: XmlPart; depth: number }[] = [];
  #text = '';

  constructor(reader: XmlReader) {
    this.#reader = reader;
    const parser = this.#parser;
    parser.onerror = (error) =>
      this.#refuse(`is not well-formed XML: ${error.message.split('\n', 1)[0]!.toLowerCase()}`);
    parser.ondoctype = () => this.#refuse(documentType);
    parser.onsgmldeclaration = () => this.#refuse('has a declaration, which no message of a bank has');
    parser.onprocessinginstruction = ({ name, body }) => this.#declared(name, body);
    parser.onopentag = (tag) => this.#open(tag as sax.QualifiedTag);
    parser.onclosetag = () => this.#close();
    parser.ontext = parser.oncdata = (text) => this.#add(text);
  }

  get line(): number {
    return this.#parser.line + 1;
  }

  write(text: string): void {
    for (let at = 0; at < text.length; at += pieceMax) {
      this.#parser.write(text.slice(at, at + pieceMax));
      if ((Reflect.get(this.#parser, 'attribList') as unknown[]).length > xmlMax.attributes)
        this.#refuse(`has an element with more than ${xmlMax.attributes} attributes`);
    }
  }

  /** Ends the document. Refuses one that is not complete. */
  end(): void {
    if (this.#path.length > 0 || this.#namespace === undefined)
      this.#refuse('ends before the document does: the file is cut');
    this.#parser.close();
  }

  #refuse(fault: string): never {
    throw new BankFileFault(this.line, fault);
  }

  #declared(name: string, body: string): void {
    if (name.toLowerCase() !== 'xml') return;
    const [, encoding = 'UTF-8'] = /encoding\s*=\s*["']([^"']*)["']/.exec(body) ?? [];
    if (!/^(utf-?8|us-ascii)$/i.test(encoding))
      this.#refuse('says another encoding than UTF-8, in which files are read');
  }

  #open({ local, uri, attributes }: sax.QualifiedTag): void {
    if (this.#path.length + this.#foreign >= xmlMax.depth)
      this.#refuse(`has more than ${xmlMax.depth} nested elements`);
    // The parser keeps a document type here, and reads elements within one that does not end.
    if (Reflect.get(this.#parser, 'doctype')) this.#refuse(documentType);
    // A comment between two digits changes no figure; an element between them would.
    if (this.#text.trim() !== '') this.#refuse('has text beside elements');
    if (this.#namespace === undefined) {
      this.#namespace = uri;
      this.#reader.root(local, uri, this.line);
    } else if (this.#foreign > 0 || uri !== this.#namespace) {
      this.#foreign++;
      return;
    } else if (this.#path.length === 0) this.#refuse('has a second document');
    this.#path.push(local);
    this.#text = '';
    const path = this.#below(1);
    if (this.#reader.isPart(path)) this.#parts.push({ part: new XmlPart(local, this.line), depth: this.#path.length });
    else if (this.#parts.length === 0) this.#reader.opened(path, this.line);
    const current = this.#parts.at(-1);
    for (const { local: name, value, prefix } of Object.values(attributes))
      if (current && prefix === '')
        current.part.add(`${this.#below(current.depth)}@${name}`, this.#checked(value), this.line);
  }

  #close(): void {
    if (this.#foreign > 0) {
      this.#foreign--;
      return;
    }
    const current = this.#parts.at(-1);
    if (current) {
      const text = this.#text.trim();
      if (text !== '') current.part.add(this.#below(current.depth), this.#checked(text), this.line);
    }
    this.#text = '';
    const path = this.#below(1);
    this.#path.pop();
    if (!current) this.#reader.closed(path);
    else if (this.#path.length < current.depth) {
      this.#parts.pop();
      this.#reader.part(path, current.part);
    }
  }

  /** The text of the element that is open; that of its elements begins anew. */
  #add(text: string): void {
    if (this.#foreign > 0) return;
    this.#text += text;
    if (this.#text.length > xmlMax.characters) this.#refuse('has a text that is longer than any of a bank');
  }

  #checked = (text: string): string => checkedText(text, this.line);

  #below = (depth: number): string => this.#path.slice(depth).join('/');
}
