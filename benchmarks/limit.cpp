// The plain game by hand: how fast can one core play it, one board at a time?
//
// 9x9 cells, 6 colours, no specials. A move is drawn uniformly from the legal swaps; then, wave by wave,
// all runs of three or more go at once, candies drop, new ones come in from above. 50 moves an attempt.
//
//     g++ -O3 -march=native -fno-tree-vectorize -std=c++17 -pthread limit.cpp -o limit
//     ./limit [threads=1] [seconds=3] [seed=1]      one line of JSON
//     ./limit check                                 every rule against a naive copy of it, board by board
//
// A plane holds one bit per cell, column by column from the bottom: bit 11*column + row. Eleven bits a column
// leave two empty ones on top, so that a shift along a column never meets the next one, and no column
// straddles the two words. A colour is three bits in three planes; the rules need only ask which
// neighbours are equal, which costs less than a plane per colour.
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>
#if defined(__BMI2__)
#include <immintrin.h>
#endif

namespace {

using u64 = unsigned long long;
using u32 = std::uint32_t;

constexpr int H = 9, W = 9, COLOURS = 6, MOVES = 50, STRIDE = 11;
constexpr int LOW_COLUMNS = 6;                          // columns 0-5 fill the low word, 6-8 the high one,
constexpr int HIGH_SHIFT = STRIDE * LOW_COLUMNS - 64;  // from its bit 2 on
static_assert(sizeof(u64) == 8, "a word holds six columns");
static_assert(STRIDE * LOW_COLUMNS - 2 <= 64 && STRIDE * LOW_COLUMNS >= 64 && STRIDE >= H + 2);

// ---------------------------------------------------------------------------------------------------
// Planes

struct Plane {
    u64 lo = 0, hi = 0;
    friend constexpr Plane operator&(Plane a, Plane b) { return {a.lo & b.lo, a.hi & b.hi}; }
    friend constexpr Plane operator|(Plane a, Plane b) { return {a.lo | b.lo, a.hi | b.hi}; }
    friend constexpr Plane operator^(Plane a, Plane b) { return {a.lo ^ b.lo, a.hi ^ b.hi}; }
    friend constexpr Plane operator-(Plane a, Plane b) { return {a.lo & ~b.lo, a.hi & ~b.hi}; }  // a without b
    constexpr bool any() const { return (lo | hi) != 0; }
    int count() const { return __builtin_popcountll(lo) + __builtin_popcountll(hi); }
};

// What stands n cells above, below, right or left of each cell.
template <int n> constexpr Plane above(Plane p) { return {p.lo >> n, p.hi >> n}; }
template <int n> constexpr Plane below(Plane p) { return {p.lo << n, p.hi << n}; }
template <int n> constexpr Plane right(Plane p) {
    return {p.lo >> (STRIDE * n) | p.hi << (64 - STRIDE * n), p.hi >> (STRIDE * n)};
}
template <int n> constexpr Plane left(Plane p) {
    return {p.lo << (STRIDE * n), p.hi << (STRIDE * n) | p.lo >> (64 - STRIDE * n)};
}

constexpr Plane cell(int row, int column) {
    const int bit = STRIDE * column + row;
    return bit < 64 ? Plane{u64{1} << bit, 0} : Plane{0, u64{1} << (bit - 64)};
}

constexpr Plane block(int rows, int columns) {
    Plane p;
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; ++column) p = p | cell(row, column);
    return p;
}

constexpr Plane BOARD = block(H, W);

#if defined(__BMI2__)
u64 pack(u64 bits, u64 mask) { return _pext_u64(bits, mask); }
u64 spread(u64 bits, u64 mask) { return _pdep_u64(bits, mask); }
#else
u64 pack(u64 bits, u64 mask) {
    u64 out = 0;
    for (int i = 0; mask; mask &= mask - 1, ++i)
        if (bits & mask & -mask) out |= u64{1} << i;
    return out;
}
u64 spread(u64 bits, u64 mask) {
    u64 out = 0;
    for (; mask; mask &= mask - 1, bits >>= 1)
        if (bits & 1) out |= mask & -mask;
    return out;
}
#endif

// ---------------------------------------------------------------------------------------------------
// Chance

struct Random {  // wyrand
    u64 state;
    u64 next() {
        state += 0xa0761d6478bd642full;
        const auto product = static_cast<unsigned __int128>(state) * (state ^ 0xe7037ed1a0b428dbull);
        return static_cast<u64>(product >> 64) ^ static_cast<u64>(product);
    }
    u32 below(u32 n) { return static_cast<u32>((next() >> 32) * n >> 32); }
};

// Four colours from one number below 6^4: bits 0-3 are the first plane's, 4-7 the second's, 8-11 the third's.
constexpr u32 QUADS = COLOURS * COLOURS * COLOURS * COLOURS;
constexpr std::array<std::uint16_t, QUADS> four_colours() {
    std::array<std::uint16_t, QUADS> table{};
    for (u32 i = 0; i < QUADS; ++i) {
        u32 rest = i, word = 0;
        for (int place = 0; place < 4; ++place, rest /= COLOURS)
            for (int bit = 0; bit < 3; ++bit) word |= ((rest % COLOURS) >> bit & 1) << (4 * bit + place);
        table[i] = static_cast<std::uint16_t>(word);
    }
    return table;
}
constexpr auto FOUR_COLOURS = four_colours();

// ---------------------------------------------------------------------------------------------------
// The rules

struct Board {
    Plane colour[3];
};

// The cells of `where` at which two shifts of the board show the same colour.
template <class One, class Other> Plane same(const Board& b, Plane where, One one, Other other) {
    Plane differ;
    for (const Plane& p : b.colour) differ = differ | (one(p) ^ other(p));
    return where - differ;
}

constexpr auto HERE = [](Plane p) { return p; };
constexpr auto RIGHT = [](Plane p) { return right<1>(p); };
constexpr auto ABOVE = [](Plane p) { return above<1>(p); };

// The cells whose neighbour to the right, above has their colour.
struct Equal {
    Plane right1, above1;
};

Equal neighbours(const Board& b) {
    return {same(b, block(H, W - 1), HERE, RIGHT), same(b, block(H - 1, W), HERE, ABOVE)};
}

struct Runs {
    Plane cells;
    Plane across, up;  // first cells of three in a row, in a column
};

Runs find_runs(const Equal& e) {
    const Plane across = e.right1 & right<1>(e.right1);
    const Plane up = e.above1 & above<1>(e.above1);
    return {across | left<1>(across) | left<2>(across) | up | below<1>(up) | below<2>(up), across, up};
}

int longest(const Runs& runs) {
    Plane across = runs.across, up = runs.up;
    int length = 3;
    for (;; ++length) {
        across = across & right<1>(across);
        up = up & above<1>(up);
        if (!(across | up).any()) return length;
    }
}

// A column of nine cells -> as many ones from its bottom as there were anywhere in it.
constexpr std::array<std::uint16_t, 1 << H> heaps() {
    std::array<std::uint16_t, 1 << H> table{};
    for (u32 column = 0; column < 1 << H; ++column) {
        u32 heap = 0;
        for (u32 bits = column; bits; bits &= bits - 1) heap = heap << 1 | 1;
        table[column] = static_cast<std::uint16_t>(heap);
    }
    return table;
}
constexpr auto HEAPS = heaps();

// The same for the columns of a word.
template <int columns> u64 heap(u64 cells) {
    u64 out = 0;
    for (int c = 0; c < columns; ++c) out |= u64{HEAPS[cells >> (STRIDE * c) & ((1 << H) - 1)]} << (STRIDE * c);
    return out;
}

// New colours, uniform and independent, for the empty cells of `where`: eight to a random word.
void fill(Board& b, Plane where, Random& random) {
    for (;;) {
        const u64 word = random.next();
        const u32 first = FOUR_COLOURS[(word >> 32) * QUADS >> 32];
        const u32 second = FOUR_COLOURS[(word & 0xffffffffu) * QUADS >> 32];
        const int low = __builtin_popcountll(where.lo);  // below 64: cells in the low word
        const auto deal = [&](u64 bits) {
            return Plane{spread(bits, where.lo), spread(bits >> low, where.hi)};
        };
        for (int i = 0; i < 3; ++i)
            b.colour[i] = b.colour[i] | deal((first >> (4 * i) & 15) | (second >> (4 * i) & 15) << 4);
        if (__builtin_expect(where.count() <= 8, 1)) return;
        where = where - deal(0xff);
    }
}

// Takes `gone` away, lets everything above it drop and fills up from above.
void drop_and_fill(Board& b, Plane gone, Random& random) {
    const Plane kept = BOARD - gone;
    const Plane filled{heap<LOW_COLUMNS>(kept.lo), heap<W - LOW_COLUMNS>(kept.hi >> HIGH_SHIFT) << HIGH_SHIFT};
    for (Plane& p : b.colour)
        p = {spread(pack(p.lo, kept.lo), filled.lo), spread(pack(p.hi, kept.hi), filled.hi)};
    fill(b, BOARD - filled, random);
}

struct Swaps {
    Plane across, up;  // with the cell to the right, with the cell above
    int count() const { return across.count() + up.count(); }
};

// A swap is legal when either candy then stands at an end, or in the middle, of three equal ones.
Swaps legal(const Board& b, const Equal& e) {
    const Plane rising = same(b, block(H - 1, W - 1), HERE, [](Plane p) { return right<1>(above<1>(p)); });
    const Plane falling = same(b, block(H - 1, W - 1), ABOVE, RIGHT);  // the one above, the one to the right
    const Plane right2 = same(b, block(H, W - 2), HERE, [](Plane p) { return right<2>(p); });
    const Plane above2 = same(b, block(H - 2, W), HERE, [](Plane p) { return above<2>(p); });

    // Across: a candy meets a pair above, below or beyond its new place, or one equal on either side of it.
    const Plane pair_above = above<1>(e.above1), pair_below = below<2>(e.above1);
    const Plane right_above = rising, right_below = below<1>(falling);  // equal to the left candy
    const Plane left_above = falling, left_below = below<1>(rising);    // equal to the right candy
    const Plane goes_right = (right_above & right<1>(pair_above)) | (right_below & right<1>(pair_below)) |
                             (right_above & right_below) | (right2 & right<2>(e.right1));
    const Plane comes_left = (left_above & pair_above) | (left_below & pair_below) |
                             (left_above & left_below) | left<1>(right2 & left<1>(e.right1));
    // Up: the same, turned.
    const Plane pair_right = right<1>(e.right1), pair_left = left<2>(e.right1);
    const Plane above_right = rising, above_left = left<1>(falling);  // equal to the lower candy
    const Plane below_right = falling, below_left = left<1>(rising);  // equal to the upper candy
    const Plane goes_up = (above_right & above<1>(pair_right)) | (above_left & above<1>(pair_left)) |
                          (above_right & above_left) | (above2 & above<2>(e.above1));
    const Plane comes_down = (below_right & pair_right) | (below_left & pair_left) |
                             (below_right & below_left) | below<1>(above2 & below<1>(e.above1));
    return {goes_right | comes_left, goes_up | comes_down};
}

// The two cells of the k-th legal swap.
Plane kth(const Swaps& s, u32 k) {
    const u64 words[4] = {s.across.lo, s.across.hi, s.up.lo, s.up.hi};
    int word = 0;
    u32 before = 0, sum = 0;
    for (int i = 0; i < 3; ++i) {
        sum += static_cast<u32>(__builtin_popcountll(words[i]));
        const bool past = k >= sum;
        word += past;
        before = past ? sum : before;
    }
    const u64 bit = spread(u64{1} << (k - before), words[word]);
    const Plane one{word & 1 ? 0 : bit, word & 1 ? bit : 0};
    return one | (word < 2 ? left<1>(one) : below<1>(one));
}

void swap(Board& b, Plane two) {
    for (Plane& p : b.colour) {
        const u64 differ = -static_cast<u64>((p & two).count() & 1);
        p = p ^ Plane{two.lo & differ, two.hi & differ};
    }
}

// Draws the cells of runs again until there are none: a random board to start from.
void remove_runs(Board& b, Random& random) {
    for (;;) {
        const Plane runs = find_runs(neighbours(b)).cells;
        if (!runs.any()) return;
        for (Plane& p : b.colour) p = p - runs;
        fill(b, runs, random);
    }
}

Board new_board(Random& random) {
    Board b{};
    do {
        b = {};
        fill(b, BOARD, random);
        remove_runs(b, random);
    } while (legal(b, neighbours(b)).count() == 0);
    return b;
}

int colour_at(const Board& b, int row, int column) {
    int colour = 0;
    for (int i = 0; i < 3; ++i) colour |= (b.colour[i] & cell(row, column)).any() << i;
    return colour;
}

Board board_of(const std::array<int, H * W>& colours) {
    Board b{};
    for (int at = 0; at < H * W; ++at)
        for (int i = 0; i < 3; ++i)
            if (colours[at] >> i & 1) b.colour[i] = b.colour[i] | cell(at / W, at % W);
    return b;
}

// No legal move: the candies change places until there is no run and a legal move (rare, so plain).
void shuffle(Board& b, Random& random) {
    std::array<int, H * W> colours{};
    for (int at = 0; at < H * W; ++at) colours[at] = colour_at(b, at / W, at % W);
    for (int tries = 0; tries < 1000; ++tries) {
        for (u32 i = H * W - 1; i > 0; --i) std::swap(colours[i], colours[random.below(i + 1)]);
        b = board_of(colours);
        const Equal e = neighbours(b);
        if (!find_runs(e).cells.any() && legal(b, e).count()) return;
    }
    b = new_board(random);
}

// ---------------------------------------------------------------------------------------------------
// Play

struct Totals {
    u64 boards = 0, moves = 0, cleared = 0, choices = 0, score = 0, shuffles = 0;
    void add(const Totals& t) {
        boards += t.boards, moves += t.moves, cleared += t.cleared, choices += t.choices, score += t.score,
            shuffles += t.shuffles;
    }
};

void play(Random& random, Totals& t) {
    Board b = new_board(random);
    Equal e = neighbours(b);
    u64 cleared = 0, choices = 0, score = 0;
    for (int move = 0; move < MOVES; ++move) {
        Swaps swaps = legal(b, e);
        u32 n = static_cast<u32>(swaps.count());
        if (__builtin_expect(n == 0, 0)) {
            shuffle(b, random);
            ++t.shuffles;
            swaps = legal(b, neighbours(b));
            n = static_cast<u32>(swaps.count());
        }
        choices += n;
        swap(b, kth(swaps, random.below(n)));
        e = neighbours(b);
        for (u64 wave = 1;; ++wave) {
            const Runs runs = find_runs(e);
            if (!runs.cells.any()) break;
            const u64 c = static_cast<u64>(longest(runs));
            score += (10 * c * c - 10 * c) * wave;
            cleared += static_cast<u64>(runs.cells.count());
            drop_and_fill(b, runs.cells, random);
            e = neighbours(b);
        }
    }
    t.boards += 1, t.moves += MOVES, t.cleared += cleared, t.choices += choices, t.score += score;
}

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Totals play_for(double seconds, u64 seed) {
    Random random{seed * 0x9e3779b97f4a7c15ull + 0x1234567};
    Totals t;
    const double end = now() + seconds;
    do
        for (int i = 0; i < 200; ++i) play(random, t);
    while (now() < end);
    return t;
}

int bench(int threads, double seconds, u64 seed) {
    std::vector<Totals> totals(static_cast<std::size_t>(threads));
    std::vector<std::thread> workers;
    const double start = now();
    for (std::size_t i = 0; i < totals.size(); ++i)
        workers.emplace_back([&, i] { totals[i] = play_for(seconds, seed * 1000 + i); });
    for (std::thread& w : workers) w.join();
    const double took = now() - start;
    Totals t;
    for (const Totals& one : totals) t.add(one);
    const double moves = static_cast<double>(t.moves);
    std::printf("{\"threads\": %d, \"boards\": %llu, \"moves\": %llu, \"seconds\": %.4f, ", threads, t.boards, t.moves,
                took);
    std::printf("\"moves_per_s\": %.0f, \"cleared_per_move\": %.4f, \"mean_legal\": %.4f, ", moves / took,
                static_cast<double>(t.cleared) / moves, static_cast<double>(t.choices) / moves);
    std::printf("\"score_per_move\": %.3f, \"shuffles\": %llu}\n", static_cast<double>(t.score) / moves, t.shuffles);
    return 0;
}

// ---------------------------------------------------------------------------------------------------
// Check: the same rules on an array of cells, as one would first write them

using Cells = std::array<std::array<int, W>, H>;  // [row from the bottom][column], -1 is empty

Cells cells_of(const Board& b) {
    Cells cells;
    for (int r = 0; r < H; ++r)
        for (int c = 0; c < W; ++c) cells[r][c] = colour_at(b, r, c);
    return cells;
}

std::pair<Plane, int> naive_runs(const Cells& cells) {
    Plane found;
    int best = 0;
    for (int r = 0; r < H; ++r)
        for (int c = 0; c < W; ++c)
            for (const auto& [dr, dc] : {std::pair{0, 1}, std::pair{1, 0}}) {
                int n = 1;
                while (r + n * dr < H && c + n * dc < W && cells[r + n * dr][c + n * dc] == cells[r][c]) ++n;
                if (n < 3) continue;
                best = n > best ? n : best;
                for (int i = 0; i < n; ++i) found = found | cell(r + i * dr, c + i * dc);
            }
    return {found, best};
}

bool naive_legal(Cells cells, int r, int c, int r2, int c2) {
    if (r2 >= H || c2 >= W) return false;
    std::swap(cells[r][c], cells[r2][c2]);
    return naive_runs(cells).first.any();
}

bool differ(Plane a, Plane b) { return (a ^ b).any(); }

#define EXPECT(condition) \
    if (!(condition)) return std::fprintf(stderr, "check failed: %s\n", #condition), 1

int check() {
    Random random{42};
    u64 swaps_seen = 0, waves = 0;
    for (int round = 0; round < 400; ++round) {
        Board b = new_board(random);
        for (int move = 0; move < MOVES; ++move) {
            Equal e = neighbours(b);
            const Swaps swaps = legal(b, e);
            const Cells cells = cells_of(b);
            for (int r = 0; r < H; ++r)
                for (int c = 0; c < W; ++c) {
                    EXPECT((swaps.across & cell(r, c)).any() == naive_legal(cells, r, c, r, c + 1));
                    EXPECT((swaps.up & cell(r, c)).any() == naive_legal(cells, r, c, r + 1, c));
                }
            const u32 n = static_cast<u32>(swaps.count());
            EXPECT(!((swaps.across | swaps.up) - BOARD).any());
            if (n == 0) {
                shuffle(b, random);
                continue;
            }
            for (u32 k = 0; k < n; ++k) {
                EXPECT(kth(swaps, k).count() == 2);
                for (u32 j = 0; j < k; ++j) EXPECT(differ(kth(swaps, k), kth(swaps, j)));
            }
            swaps_seen += n;
            swap(b, kth(swaps, random.below(n)));
            for (e = neighbours(b);; e = neighbours(b), ++waves) {
                const Runs runs = find_runs(e);
                const Cells before = cells_of(b);
                const auto [expected, best] = naive_runs(before);
                EXPECT(!differ(runs.cells, expected));
                if (!expected.any()) break;
                EXPECT(longest(runs) == best);
                drop_and_fill(b, runs.cells, random);
                const Cells after = cells_of(b);
                for (int c = 0; c < W; ++c) {
                    int height = 0;
                    for (int r = 0; r < H; ++r)
                        if (!(expected & cell(r, c)).any()) EXPECT(after[height++][c] == before[r][c]);
                    for (; height < H; ++height) EXPECT(after[height][c] >= 0 && after[height][c] < COLOURS);
                }
                for (const Plane& p : b.colour) EXPECT(!(p - BOARD).any());
            }
        }
    }
    std::array<u64, COLOURS> seen{};
    for (int i = 0; i < 20000; ++i) {
        Board b{};
        fill(b, BOARD, random);
        for (const auto& row : cells_of(b))
            for (int colour : row) ++seen[static_cast<std::size_t>(colour)];
    }
    for (u64 n : seen) EXPECT(n > 268000 && n < 272000);  // 270,000 expected, SD 474
    std::printf("{\"checked\": true, \"swaps\": %llu, \"waves\": %llu}\n", swaps_seen, waves);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::strcmp(argv[1], "check") == 0) return check();
    const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
    const double seconds = argc > 2 ? std::atof(argv[2]) : 3.0;
    const u64 seed = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
    if (threads < 1 || seconds <= 0)
        return std::fprintf(stderr, "usage: limit [threads] [seconds] [seed] | check\n"), 2;
    return bench(threads, seconds, seed);
}
