/** The largest number of pixels of an image: decoding takes 4 bytes per pixel, so 160 MB. Silent. */
export const imagePixelsMax = 40_000_000;

/** The size that an image's header claims, in pixels. */
export interface ImageSize {
  width: number;
  height: number;
}

/**
 * The size that the header of a PNG or JPEG claims; undefined when it claims none, or an empty area. When there are
 * several claims, this returns the largest, because decoders differ in which one they use. Libraries for this search a
 * JPEG byte by byte for a plausible header and use the first; a hostile file can show them another header than it shows
 * to decoders.
 */
export function claimedSize(content: Buffer, type: 'image/png' | 'image/jpeg'): ImageSize | undefined {
  const size = type === 'image/png' ? sizeOfPng(content) : sizeOfJpeg(content);
  return size && size.width > 0 && size.height > 0 ? size : undefined;
}

const signatureLength = 8;

/** The first chunk of a PNG is its header: a length of 13, the letters IHDR, width and height. */
function sizeOfPng(content: Buffer): ImageSize | undefined {
  if (content.length < signatureLength + 16) return undefined;
  if (content.readUInt32BE(signatureLength) !== 13 || content.toString('latin1', 12, 16) !== 'IHDR') return undefined;
  return { width: content.readUInt32BE(16), height: content.readUInt32BE(20) };
}

const [startOfImage, endOfImage, startOfScan] = [0xd8, 0xd9, 0xda];

/** Markers that have no segment: fill, restarts and the start of the image. */
const alone = (marker: number) => marker === 0x01 || (marker >= 0xd0 && marker <= startOfImage);

/** Frame headers: 0xC0 to 0xCF, except Huffman tables (C4), an extension (C8) and arithmetic conditioning (CC). */
const ofFrame = (marker: number) =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;

/**
 * Reads the segments of a JPEG up to its first scan. Each segment contains its length; a frame header has height and
 * width.
 */
function sizeOfJpeg(content: Buffer): ImageSize | undefined {
  let largest: ImageSize | undefined;
  for (let at = 0; at + 1 < content.length; ) {
    if (content[at] !== 0xff) return undefined;
    const marker = content[at + 1]!;
    // Any number of 0xFF bytes may precede a marker.
    if (marker === 0xff) at += 1;
    else if (alone(marker)) at += 2;
    else if (marker === startOfScan || marker === endOfImage) return largest;
    else {
      if (at + 4 > content.length) return undefined;
      const length = content.readUInt16BE(at + 2);
      if (length < 2) return undefined;
      if (ofFrame(marker)) {
        if (length < 8 || at + 9 > content.length) return undefined;
        const size = { height: content.readUInt16BE(at + 5), width: content.readUInt16BE(at + 7) };
        // A height of zero means that the height follows after the scan; this does not read that far.
        if (size.width === 0 || size.height === 0) return undefined;
        if (!largest || size.width * size.height > largest.width * largest.height) largest = size;
      }
      at += 2 + length;
    }
  }
  return largest;
}
