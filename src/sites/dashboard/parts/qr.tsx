import { generate } from 'lean-qr';

/** The quiet space around the code, in its modules. */
const margin = 3;

/** A text as a QR code. */
export function Qr({ text, label }: { text: string; label: string }) {
  const code = generate(text);
  const rows = Array.from({ length: code.size }, (_, y) => y);
  const path = rows.flatMap((y) => rows.filter((x) => code.get(x, y)).map((x) => `M${x} ${y}h1v1h-1z`)).join('');
  const size = code.size + 2 * margin;
  return (
    <svg
      className="qr"
      role="img"
      aria-label={label}
      viewBox={`${-margin} ${-margin} ${size} ${size}`}
      shapeRendering="crispEdges"
    >
      <path d={path} />
    </svg>
  );
}
