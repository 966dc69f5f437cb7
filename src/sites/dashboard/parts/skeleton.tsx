/** Grey lines in the place of text that is being loaded. */
export function Lines({ count = 3 }: { count?: number }) {
  return (
    <div className="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: count }, (_, i) => (
        <span key={i} />
      ))}
    </div>
  );
}

/** The page of an object that is being loaded: its heading, what happened to it, and its facts. */
export function DetailSkeleton() {
  return (
    <div className="page">
      <div className="skeleton-head" />
      <div className="detail">
        <div>
          {[4, 3].map((count) => (
            <section key={count} className="card">
              <Lines count={count} />
            </section>
          ))}
        </div>
        <section className="card">
          <Lines count={8} />
        </section>
      </div>
    </div>
  );
}

/** A page that is being loaded. */
export function PageSkeleton() {
  return (
    <div className="page">
      <div className="skeleton-head" />
      <Lines count={8} />
    </div>
  );
}
